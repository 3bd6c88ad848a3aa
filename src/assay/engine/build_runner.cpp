#include "assay/engine/build_runner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/python_command.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::chrono::minutes kBuildTimeout{30};
constexpr std::chrono::minutes kQueryTimeout{1};

/// An engine whose runner can be built against another installation.
struct Buildable {
  std::string_view engine;  ///< Also the Python module of its wheel.
  std::string_view package;
  std::array<const char*, 2> files;    ///< Names of the package's configuration.
  std::array<const char*, 7> folders;  ///< Where installations keep it.
};

constexpr std::array<Buildable, 2> kBuildable = {{
    {"executorch",
     "executorch",
     {"executorch-config.cmake", "ExecuTorchConfig.cmake"},
     {".", "share/cmake", "lib/cmake/ExecuTorch", "lib/cmake/executorch", "executorch/share/cmake",
      "cmake", "executorch"}},
    {"openvino",
     "OpenVINO",
     {"OpenVINOConfig.cmake", "openvino-config.cmake"},
     {".", "cmake", "runtime/cmake", "lib/cmake/openvino", "openvino/cmake", "lib/cmake/OpenVINO",
      "lib64/cmake/openvino"}},
}};

Result<const Buildable*> find_buildable(std::string_view engine) {
  const auto* found = std::ranges::find(kBuildable, engine, &Buildable::engine);
  if (found != kBuildable.end()) {
    return found;
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("cannot build a runner for '{}', only for executorch and openvino; add "
                          "any other engine with --runner or --file",
                          engine));
}

Result<stdfs::path> prefix_of_python(const stdfs::path& python, std::string_view module) {
  const auto script = fmt::format(
      "import importlib.util as u, pathlib as p; s = u.find_spec('{}'); "
      "print(p.Path(next(iter(s.submodule_search_locations))) if s else '')",
      module);
  ASSAY_ASSIGN_OR_RETURN(const auto output, run_command({.argv = python_text_argv(python, script),
                                                         .env = python_environment(),
                                                         .stderr_file = "/dev/null"},
                                                        kQueryTimeout));
  const auto folder = output.output.substr(0, output.output.find('\n'));
  if (folder.empty()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("'{}' has no {}; install it there, or give --prefix", python.string(), module));
  }
  return stdfs::path(folder);
}

Result<stdfs::path> find_cmake_package(const stdfs::path& prefix, const Buildable& engine) {
  for (const auto* folder : engine.folders) {
    for (const auto* file : engine.files) {
      if (stdfs::exists(prefix / folder / file)) {
        return stdfs::canonical(prefix / folder);
      }
    }
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no {} in '{}' (looked in {}); give the folder that {} was installed to",
                          engine.files.front(), prefix.string(), fmt::join(engine.folders, ", "),
                          engine.engine));
}

Status run_step(const std::vector<std::string>& argv, const stdfs::path& log) {
  // Both streams of cmake belong into the log: its stdout is collected and appended.
  ASSAY_ASSIGN_OR_RETURN(
      const auto output,
      run_command({.argv = argv, .env = {}, .stderr_file = log.string()}, kBuildTimeout));
  const auto before = read_file(log).value_or("");
  ASSAY_RETURN_IF_ERROR(write_file_atomically(log, before + output.output));
  if (output.exit_code != 0) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("the runner does not build against this installation; see '{}'", log.string()));
  }
  return {};
}

}  // namespace

Result<EngineBuild> build_runner(const RunnerBuildRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto* engine, find_buildable(request.name));
  auto prefix = Result<stdfs::path>(request.prefix);
  if (request.prefix.empty()) {
    prefix = prefix_of_python(request.python, engine->engine);
  }
  ASSAY_RETURN_IF_ERROR(prefix);
  ASSAY_ASSIGN_OR_RETURN(const auto package, find_cmake_package(*prefix, *engine));
  const auto folder =
      engines_folder(request.home) / fmt::format("{}@{}", request.name, request.label);
  const auto log = folder / "build.log";
  ASSAY_RETURN_IF_ERROR(write_file_atomically(log, ""));
  const auto build = (folder / "build").string();
  const auto target = fmt::format("assay-runner-{}", request.name);
  ASSAY_RETURN_IF_ERROR(run_step(
      {request.cmake.string(), "-S", request.source.string(), "-B", build, "-G", "Ninja",
       "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
       fmt::format("-D{}_DIR={}", engine->package, package.string()), "-DASSAY_BUILD_TESTS=OFF",
       "-DASSAY_BUILD_BENCH=OFF", "-DASSAY_PYTHON_EXTENSION=OFF"},
      log));
  ASSAY_RETURN_IF_ERROR(
      run_step({request.cmake.string(), "--build", build, "--target", target}, log));
  return register_runner(request.home, stdfs::path(build) / "bin" / target, request.name,
                         request.label);
}

Result<stdfs::path> find_source_folder() {
  const char* named = std::getenv("ASSAY_SOURCE_DIR");
  for (const auto& folder :
       {stdfs::path(named == nullptr ? "" : named), executable_folder() / "../share/assay/source",
        stdfs::path(ASSAY_BUILT_FROM)}) {
    if (!folder.empty() && stdfs::exists(folder / "cmake" / "AssayModule.cmake")) {
      return stdfs::weakly_canonical(folder);
    }
  }
  return fail(ErrorCode::kUnavailable,
              "Assay's source tree was not found; set ASSAY_SOURCE_DIR to it");
}

}  // namespace assay
