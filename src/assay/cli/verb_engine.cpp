#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"
#include "assay/engine/build_runner.h"
#include "assay/engine/installed_builds.h"
#include "assay/engine/known_engines.h"
#include "assay/engine/python_runner.h"
#include "assay/record/subject.h"

namespace assay::cli {
namespace {

struct AddOptions {
  std::string reference;
  std::string prefix;
  std::string python;
  std::string cmake;
  std::string file;
  std::string runner;
};

/// The cmake beside the toolchain's interpreter is new enough; a system's own may not be.
std::filesystem::path find_cmake(const std::string& requested) {
  if (!requested.empty()) {
    return requested;
  }
  const auto beside = default_python().parent_path() / "cmake";
  return std::filesystem::exists(beside) ? beside : std::filesystem::path("cmake");
}

Result<EngineBuild> add_build(const AddOptions& options, const std::string& name,
                              const std::string& label) {
  const int places = (options.prefix.empty() ? 0 : 1) + (options.runner.empty() ? 0 : 1) +
                     (options.file.empty() && options.python.empty() ? 0 : 1);
  if (places != 1) {
    return fail(ErrorCode::kInvalidArgument,
                "say where it is: --prefix DIR, --python VENV/bin/python, --file FILE.py:Class or "
                "--runner PROGRAM");
  }
  if (!options.runner.empty()) {
    return register_runner(assay_home(), std::filesystem::absolute(options.runner), name, label);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto source, find_source_folder());
  if (!options.file.empty() || is_known_in_python(name)) {
    return add_python_runner(
        {.name = name,
         .label = label,
         .engine = options.file.empty() ? name : options.file,
         .python = options.python.empty() ? default_python().string() : options.python,
         .source = source,
         .home = assay_home()});
  }
  log_line(LogLevel::kInfo, "building the runner, a minute or two…");
  return build_runner({.name = name,
                       .label = label,
                       .prefix = options.prefix,
                       .python = options.python,
                       .cmake = find_cmake(options.cmake),
                       .source = source,
                       .home = assay_home()});
}

Result<ExitCode> execute_add(const AddOptions& options) {
  const auto at = options.reference.find('@');
  if (at == std::string::npos || at == 0 || at + 1 == options.reference.size()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}': write ENGINE@NAME, such as executorch@mine", options.reference));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto build, add_build(options, options.reference.substr(0, at),
                                                     options.reference.substr(at + 1)));
  print_out("{} is ready: {}\n", build.reference(), build.runner);
  return ExitCode::kOk;
}

Execute declare_add(CLI::App& app) {
  auto options = std::make_shared<AddOptions>();
  auto* add = app.add_subcommand("add", "Add another installation of an engine, or a new engine");
  add->add_option("reference", options->reference, "ENGINE@NAME, such as executorch@mine")
      ->required();
  add->add_option("--prefix", options->prefix, "Folder that the engine was installed to");
  add->add_option("--python", options->python, "Or an interpreter whose packages hold it");
  add->add_option("--file", options->file, "An engine in Python: FILE.py:Class");
  add->add_option("--runner", options->runner, "A program that is a runner already");
  add->add_option("--cmake", options->cmake, "CMake 3.28 or newer");
  return [options] { return execute_add(*options); };
}

}  // namespace

Execute declare_engine(CLI::App& app) {
  app.require_subcommand(1);
  auto execute_added = declare_add(app);
  auto execute_checked = declare_engine_check(app);
  return [&app, execute_added, execute_checked] {
    return app.got_subcommand("add") ? execute_added() : execute_checked();
  };
}

}  // namespace assay::cli
