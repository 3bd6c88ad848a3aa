#include "assay/engine/build_runner.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::chrono::minutes kBuildTimeout{30};
constexpr std::chrono::minutes kQueryTimeout{1};

/// Where installations keep executorch-config.cmake.
constexpr std::array<const char*, 6> kPackageFolders = {
    ".",    "share/cmake", "lib/cmake/ExecuTorch", "lib/cmake/executorch", "executorch/share/cmake",
    "cmake"};

Result<stdfs::path> prefix_of_python(const stdfs::path& python) {
  constexpr auto* kScript =
      "import importlib.util as u, pathlib as p; s = u.find_spec('executorch'); "
      "print(p.Path(next(iter(s.submodule_search_locations))) if s else '')";
  ASSAY_ASSIGN_OR_RETURN(
      const auto output,
      run_command({.argv = {python.string(), "-c", kScript}, .env = {}, .stderr_file = "/dev/null"},
                  kQueryTimeout));
  const auto folder = output.output.substr(0, output.output.find('\n'));
  if (folder.empty()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("'{}' has no executorch; install it there, or give --prefix", python.string()));
  }
  return stdfs::path(folder);
}

Result<stdfs::path> find_cmake_package(const stdfs::path& prefix) {
  for (const auto* folder : kPackageFolders) {
    for (const auto* file : {"executorch-config.cmake", "ExecuTorchConfig.cmake"}) {
      if (stdfs::exists(prefix / folder / file)) {
        return stdfs::canonical(prefix / folder);
      }
    }
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no executorch-config.cmake in '{}' (looked in {}); give the folder that "
                          "ExecuTorch was installed to",
                          prefix.string(), fmt::join(kPackageFolders, ", ")));
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
  if (request.name != "executorch") {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("engine builds can be added for executorch, not for '{}'", request.name));
  }
  auto prefix = Result<stdfs::path>(request.prefix);
  if (request.prefix.empty()) {
    prefix = prefix_of_python(request.python);
  }
  ASSAY_RETURN_IF_ERROR(prefix);
  ASSAY_ASSIGN_OR_RETURN(const auto package, find_cmake_package(*prefix));
  const auto folder =
      engines_folder(request.home) / fmt::format("{}@{}", request.name, request.label);
  const auto log = folder / "build.log";
  ASSAY_RETURN_IF_ERROR(write_file_atomically(log, ""));
  const auto build = (folder / "build").string();
  const auto target = fmt::format("assay-runner-{}", request.name);
  ASSAY_RETURN_IF_ERROR(run_step(
      {request.cmake.string(), "-S", request.source.string(), "-B", build, "-G", "Ninja",
       "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-Dexecutorch_DIR=" + package.string(),
       "-DASSAY_BUILD_TESTS=OFF", "-DASSAY_BUILD_BENCH=OFF", "-DASSAY_PYTHON_EXTENSION=OFF"},
      log));
  ASSAY_RETURN_IF_ERROR(
      run_step({request.cmake.string(), "--build", build, "--target", target}, log));
  ASSAY_ASSIGN_OR_RETURN(auto described, describe_runner(stdfs::path(build) / "bin" / target));
  described.label = request.label;
  ASSAY_RETURN_IF_ERROR(register_build(request.home, described));
  return described;
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
              "Assay's source tree is not there; name it with ASSAY_SOURCE_DIR");
}

}  // namespace assay
