#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"
#include "assay/engine/build_runner.h"

namespace assay::cli {
namespace {

struct Options {
  std::string reference;
  std::string prefix;
  std::string python;
  std::string cmake;
};

/// The cmake beside the toolchain's interpreter is new enough; a system's own may not be.
std::filesystem::path find_cmake(const std::string& requested) {
  if (!requested.empty()) {
    return requested;
  }
  const auto beside = default_python().parent_path() / "cmake";
  return std::filesystem::exists(beside) ? beside : std::filesystem::path("cmake");
}

Result<ExitCode> execute(const Options& options) {
  const auto at = options.reference.find('@');
  if (at == std::string::npos || at == 0 || at + 1 == options.reference.size()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}': write ENGINE@NAME, such as executorch@mine", options.reference));
  }
  if (options.prefix.empty() == options.python.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "say where it is installed: --prefix DIR, or --python VENV/bin/python");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto source, find_source_folder());
  log_line(LogLevel::kInfo, "building the runner, a minute or two…");
  ASSAY_ASSIGN_OR_RETURN(const auto build, build_runner({.name = options.reference.substr(0, at),
                                                         .label = options.reference.substr(at + 1),
                                                         .prefix = options.prefix,
                                                         .python = options.python,
                                                         .cmake = find_cmake(options.cmake),
                                                         .source = source,
                                                         .home = assay_home()}));
  fmt::print("{} is ready: {}\n", build.reference(), build.runner);
  return ExitCode::kOk;
}

}  // namespace

Execute declare_engine(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.require_subcommand(1);
  auto* add =
      app.add_subcommand("add", "Build the runner against another installation of an engine");
  add->add_option("reference", options->reference, "ENGINE@NAME, such as executorch@mine")
      ->required();
  add->add_option("--prefix", options->prefix, "Folder that the engine was installed to");
  add->add_option("--python", options->python, "Or an interpreter whose packages hold it");
  add->add_option("--cmake", options->cmake, "CMake 3.28 or newer");
  return [options] { return execute(*options); };
}

}  // namespace assay::cli
