#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/sandbox_flag.h"
#include "assay/cli/verb.h"
#include "assay/engine/build_runner.h"
#include "assay/engine/installed_builds.h"
#include "assay/engine/known_engines.h"
#include "assay/engine/python_runner.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"
#include "assay/remote/device_bundle.h"

namespace assay::cli {
namespace {

struct AddOptions {
  std::string reference;
  std::string prefix;
  std::string python;
  std::string cmake;
  std::string file;
  std::string runner;
  std::string bundle;
  SandboxFlag sandbox;
};

/// A runner for devices: it is described there, at first contact.
Result<EngineBuild> register_bundle(const std::string& folder, const std::string& name,
                                    const std::string& label) {
  const auto path = std::filesystem::absolute(folder);
  ASSAY_ASSIGN_OR_RETURN(const auto bundle, read_bundle(path));
  EngineBuild build{.name = name,
                    .label = label,
                    .runner = (path / bundle.argv.back()).string(),
                    .details = {{kBundleKey, path.string()}, {"triple", bundle.triple}}};
  ASSAY_RETURN_IF_ERROR(register_build(assay_home(), build));
  return build;
}

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
                     (options.bundle.empty() ? 0 : 1) +
                     (options.file.empty() && options.python.empty() ? 0 : 1);
  if (places != 1) {
    return fail(ErrorCode::kInvalidArgument,
                "say where it is: --prefix DIR, --python VENV/bin/python, --file FILE.py:Class, "
                "--runner PROGRAM, or --device-bundle DIR");
  }
  if (!options.bundle.empty()) {
    return register_bundle(options.bundle, name, label);
  }
  if (!options.runner.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto sandbox, options.sandbox.get());
    return register_runner(assay_home(), std::filesystem::absolute(options.runner), name, label,
                           sandbox.value_or(SandboxMode::kOff));
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
  add->add_option("reference", options->reference,
                  "Name of the installation: ENGINE@NAME, such as executorch@mine")
      ->required();
  add->add_option("--prefix", options->prefix, "Folder where the engine is installed");
  add->add_option("--python", options->python,
                  "Python interpreter whose packages contain the engine");
  add->add_option("--file", options->file, "Engine class written in Python");
  add->add_option("--runner", options->runner, "Finished runner program");
  add->add_option("--device-bundle", options->bundle,
                  "Folder of a runner for devices with all that it loads, and bundle.json");
  options->sandbox.declare(*add, "the program of --runner while it describes itself", "off");
  add->add_option("--cmake", options->cmake,
                  "CMake 3.28 or newer that builds the runner [default: cmake]");
  return [options] { return execute_add(*options); };
}

/// Engines that were added, and whether each can be used.
Result<ExitCode> list_added() {
  const auto added = registered_builds(assay_home());
  if (added.empty()) {
    fmt::print(stderr, "no engine was added; `assay list engines` shows the installed ones\n");
  }
  for (const auto& build : added) {
    const bool is_there = std::filesystem::exists(build.runner);
    fmt::print("{}  {}{}\n", build.reference(), build.runner, is_there ? "" : " (is not there)");
  }
  return ExitCode::kOk;
}

/// Strikes an engine off, with the folder that `engine add` made for it; what it was made from, and
/// a runner that lies elsewhere, stay.
Result<ExitCode> remove_added(const std::string& reference) {
  ASSAY_ASSIGN_OR_RETURN(const auto build, unregister_build(assay_home(), reference));
  std::error_code error;
  std::filesystem::remove_all(engines_folder(assay_home()) / build.reference(), error);
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} is no longer registered, but its folder could not be removed: {}",
                            reference, error.message()));
  }
  fmt::print("{} is removed\n", build.reference());
  return ExitCode::kOk;
}

Execute declare_remove(CLI::App& app) {
  auto reference = std::make_shared<std::string>();
  app.add_subcommand("remove", "Remove an engine that was added")
      ->add_option("reference", *reference, "ENGINE@NAME, as `assay engine list` shows it")
      ->required();
  return [reference] { return remove_added(*reference); };
}

}  // namespace

Execute declare_engine(CLI::App& app) {
  app.require_subcommand(1);
  std::vector<std::pair<const char*, Execute>> verbs;
  verbs.emplace_back("add", declare_add(app));
  verbs.emplace_back("build", declare_engine_build(app));
  verbs.emplace_back("check", declare_engine_check(app));
  verbs.emplace_back("gc", declare_engine_gc(app));
  app.add_subcommand("list", "Show the engines that were added");
  verbs.emplace_back("list", list_added);
  verbs.emplace_back("remove", declare_remove(app));
  return [&app, verbs] {
    const auto named = [&app](const auto& verb) { return app.got_subcommand(verb.first); };
    return std::ranges::find_if(verbs, named)->second();
  };
}

}  // namespace assay::cli
