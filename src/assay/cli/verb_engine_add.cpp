#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/file_digests.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/sandbox_flag.h"
#include "assay/cli/verb.h"
#include "assay/engine/build_device_engine.h"
#include "assay/engine/build_from_checkout.h"
#include "assay/engine/build_runner.h"
#include "assay/engine/checkout_backends.h"
#include "assay/engine/checkout_check.h"
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
  std::string checkout;
  std::vector<std::string> backends;
  std::string triple;
  std::string sysroot;
  std::string toolchain;
  SandboxFlag sandbox;
};

/// "ENGINE@NAME" in two.
struct Reference {
  std::string name;
  std::string label;
};

/// A runner for devices: it is described there, at first contact.
Result<EngineBuild> register_bundle(const std::filesystem::path& folder,
                                    const Reference& reference) {
  const auto path = std::filesystem::absolute(folder);
  FileDigests digests({});  // Nothing is known from before: every file is read.
  ASSAY_ASSIGN_OR_RETURN(const auto bundle, read_bundle(path, digests));
  EngineBuild build{.name = reference.name,
                    .label = reference.label,
                    .runner = (path / bundle.argv.back()).string(),
                    .details = {{kBundleKey, path.string()}, {"triple", bundle.triple}}};
  ASSAY_RETURN_IF_ERROR(register_build(assay_home(), build));
  return build;
}

/// The cmake next to the toolchain's interpreter is new enough; a system's own may not be.
std::filesystem::path find_cmake(const std::string& requested) {
  if (!requested.empty()) {
    return requested;
  }
  const auto beside = default_python().parent_path() / "cmake";
  return std::filesystem::exists(beside) ? beside : std::filesystem::path("cmake");
}

/// Builds the runner for a device and notes its bundle. A delegate is no engine: it is built, and
/// has no entry.
Result<EngineBuild> add_device_engine(const AddOptions& options, const Reference& reference) {
  ASSAY_ASSIGN_OR_RETURN(const auto source, find_source_folder());
  log_line(LogLevel::kInfo, fmt::format("building for {}, a minute or two…", options.triple));
  ASSAY_ASSIGN_OR_RETURN(const auto built, build_device_engine({.name = reference.name,
                                                                .label = reference.label,
                                                                .prefix = options.prefix,
                                                                .triple = options.triple,
                                                                .sysroot = options.sysroot,
                                                                .toolchain = options.toolchain,
                                                                .python = default_python(),
                                                                .cmake = find_cmake(options.cmake),
                                                                .source = source,
                                                                .home = assay_home()}));
  if (std::filesystem::is_directory(built)) {
    return register_bundle(built, reference);
  }
  return EngineBuild{
      .name = reference.name, .label = reference.label, .runner = built.string(), .build_id = {}};
}

Result<EngineBuild> add_from_sources(const AddOptions& options, const Reference& reference) {
  ASSAY_ASSIGN_OR_RETURN(const auto source, find_source_folder());
  if (!options.file.empty() || is_known_in_python(reference.name)) {
    return add_python_runner(
        {.name = reference.name,
         .label = reference.label,
         .engine = options.file.empty() ? reference.name : options.file,
         .python = options.python.empty() ? default_python().string() : options.python,
         .source = source,
         .home = assay_home()});
  }
  log_line(LogLevel::kInfo, "building the runner, a minute or two…");
  return build_runner({.name = reference.name,
                       .label = reference.label,
                       .prefix = options.prefix,
                       .python = options.python,
                       .cmake = find_cmake(options.cmake),
                       .source = source,
                       .home = assay_home()});
}

/// Says which shaders the build goes without, and that it takes long, before it does.
void announce(const CheckoutRequest& from, const CheckoutTools& tools) {
  if (!tools.missing_extensions.empty()) {
    log_line(
        LogLevel::kWarning,
        fmt::format("'{}' lacks {}: shaders that require it, such as those of int8, are left out, "
                    "and programs with them will not load; the Vulkan SDK 1.4.341 or newer "
                    "has a glslc that knows it",
                    tools.glslc.string(), fmt::join(tools.missing_extensions, ", ")));
  }
  log_line(LogLevel::kInfo,
           fmt::format("building the backends from '{}' and a runner with them, some minutes…",
                       from.checkout.string()));
}

/// Why the finished runner cannot use a backend that was asked for; empty: it can.
std::string fault_of_backend(const EngineBuild& build, const CheckoutBackend& backend) {
  for (const auto& entry : build.details.value("backends", Json::array())) {
    if (entry.value("name", "") == backend.registered) {
      return entry.value("is_available", false) ? "" : entry.value("reason", "it cannot run here");
    }
  }
  return "the runner did not register it";
}

/// Builds backends from a checkout of ExecuTorch, after a look at all that this needs.
Result<EngineBuild> add_from_checkout(const AddOptions& options, const Reference& reference) {
  CheckoutRequest from{
      .checkout = options.checkout,
      .backends = {},
      .prefix = options.prefix,
      .python = options.python.empty() ? default_python().string() : options.python,
      .cmake = find_cmake(options.cmake)};
  for (const auto& name : options.backends) {
    ASSAY_ASSIGN_OR_RETURN(const auto* backend, find_checkout_backend(name));
    from.backends.push_back(backend);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto source, find_source_folder());
  ASSAY_ASSIGN_OR_RETURN(const auto tools, check_checkout(from));
  announce(from, tools);
  ASSAY_ASSIGN_OR_RETURN(
      auto build,
      build_from_checkout(
          {.label = reference.label, .from = from, .source = source, .home = assay_home()}, tools));
  for (const auto* backend : from.backends) {
    if (const auto fault = fault_of_backend(build, *backend);
        !backend->registered.empty() && !fault.empty()) {
      log_line(LogLevel::kWarning, fmt::format("{}: {}", backend->registered, fault));
    }
  }
  return build;
}

/// A checkout needs an installation next to it, which is the toolchain's unless it is named.
Status check_checkout_options(const AddOptions& options) {
  if (options.checkout.empty() != options.backends.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--source CHECKOUT and --backends vulkan,vgf,llm belong together");
  }
  const bool is_elsewhere = !options.file.empty() || !options.runner.empty() ||
                            !options.bundle.empty() || !options.triple.empty();
  if (!options.checkout.empty() &&
      (is_elsewhere || (!options.prefix.empty() && !options.python.empty()))) {
    return fail(ErrorCode::kInvalidArgument,
                "--source takes --prefix DIR or --python VENV/bin/python for the installation "
                "that the backends are built against, and none of --file, --runner, "
                "--device-bundle and --triple");
  }
  return {};
}

Status check_places(const AddOptions& options) {
  const int places = (options.prefix.empty() ? 0 : 1) + (options.runner.empty() ? 0 : 1) +
                     (options.bundle.empty() ? 0 : 1) +
                     (options.file.empty() && options.python.empty() ? 0 : 1);
  if (places != 1) {
    return fail(ErrorCode::kInvalidArgument,
                "say where it is: --prefix DIR, --python VENV/bin/python, --file FILE.py:Class, "
                "--runner PROGRAM, --device-bundle DIR, or --source CHECKOUT");
  }
  const bool is_for_device =
      !options.triple.empty() || !options.sysroot.empty() || !options.toolchain.empty();
  if (is_for_device && (options.triple.empty() || options.prefix.empty())) {
    return fail(ErrorCode::kInvalidArgument,
                "a build for a device needs --triple, such as aarch64-linux-gnu, and --prefix, the "
                "folder of the engine's unpacked wheel for it");
  }
  return {};
}

Result<EngineBuild> add_build(const AddOptions& options, const Reference& reference) {
  ASSAY_RETURN_IF_ERROR(check_checkout_options(options));
  if (!options.checkout.empty()) {
    if (reference.name != "executorch") {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--source takes a checkout of ExecuTorch: write executorch@{}",
                              reference.label));
    }
    return add_from_checkout(options, reference);
  }
  ASSAY_RETURN_IF_ERROR(check_places(options));
  if (!options.triple.empty()) {
    return add_device_engine(options, reference);
  }
  if (!options.bundle.empty()) {
    return register_bundle(options.bundle, reference);
  }
  if (!options.runner.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto sandbox, options.sandbox.get());
    return register_runner(assay_home(), std::filesystem::absolute(options.runner), reference.name,
                           reference.label, sandbox.value_or(SandboxMode::kOff));
  }
  return add_from_sources(options, reference);
}

Result<ExitCode> execute_add(const AddOptions& options) {
  const auto at = options.reference.find('@');
  if (at == std::string::npos || at == 0 || at + 1 == options.reference.size()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}': write ENGINE@NAME, such as executorch@mine", options.reference));
  }
  if (options.reference.find('/') != std::string::npos || options.reference.substr(at + 1) == "." ||
      options.reference.substr(at + 1) == "..") {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}': the name is that of a folder, too, and cannot have a slash",
                            options.reference));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto build,
                         add_build(options, {.name = options.reference.substr(0, at),
                                             .label = options.reference.substr(at + 1)}));
  print_out("{} is ready: {}\n", build.reference(), build.runner);
  if (!options.triple.empty() && !build.details.contains(kBundleKey)) {
    print_out("load it on a device with --library executorch={}\n", build.runner);
  }
  return ExitCode::kOk;
}

}  // namespace

Execute declare_engine_add(CLI::App& app) {
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
  add->add_option("--source", options->checkout,
                  "Checkout of ExecuTorch with the sources of --backends");
  add->add_option("--backends", options->backends,
                  "Backends that the installed ExecuTorch lacks, to build from --source: vulkan, "
                  "vgf, llm (operators of language models)")
      ->delimiter(',');
  add->add_option("--triple", options->triple,
                  "Build for devices of this kind, against the installation for them in --prefix: "
                  "aarch64-linux-gnu");
  add->add_option("--sysroot", options->sysroot,
                  "Libraries for the device [default: those that make aarch64 unpacks]");
  add->add_option("--toolchain", options->toolchain,
                  "CMake toolchain file, such as an NDK's: the device's own loader starts the "
                  "runner");
  options->sandbox.declare(*add, "the program of --runner while it describes itself", "off");
  add->add_option("--cmake", options->cmake,
                  "CMake 3.28 or newer that builds the runner [default: cmake]");
  return [options] { return execute_add(*options); };
}

}  // namespace assay::cli
