#include "assay/engine/cmake_build.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay {
namespace {

constexpr std::chrono::hours kBuildTimeout{2};  // Shaders and backends of a checkout take long.

Status run_step(const std::vector<std::string>& argv, const std::filesystem::path& log,
                const std::string& failure) {
  // Both streams of cmake belong into the log: its stdout is collected and appended.
  ASSAY_ASSIGN_OR_RETURN(
      const auto output,
      run_command({.argv = argv, .env = {}, .stderr_file = log.string()}, kBuildTimeout));
  const auto before = read_file(log).value_or("");
  ASSAY_RETURN_IF_ERROR(write_file_atomically(log, before + output.output));
  if (output.exit_code != 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}; see '{}'", failure, log.string()));
  }
  return {};
}

}  // namespace

std::vector<std::string> definitions_for_runners() {
  return {"-DASSAY_BUILD_TESTS=OFF", "-DASSAY_BUILD_BENCH=OFF", "-DASSAY_PYTHON_EXTENSION=OFF",
          "-DASSAY_WARNINGS_ARE_ERRORS=OFF"};
}

Status build_with_cmake(const CmakeBuild& build) {
  const auto log = build.folder / "build.log";
  ASSAY_RETURN_IF_ERROR(write_file_atomically(log, ""));
  const auto folder = (build.folder / "build").string();
  // Definitions of an earlier build in the folder hold no longer; what it compiled is used again.
  std::vector<std::string> configure = {
      build.cmake.string(), "--fresh", "-S", build.source.string(), "-B", folder, "-G", "Ninja"};
  configure.insert(configure.end(), build.definitions.begin(), build.definitions.end());
  ASSAY_RETURN_IF_ERROR(run_step(configure, log, build.failure));
  std::vector<std::string> compile = {build.cmake.string(), "--build", folder, "--target"};
  compile.insert(compile.end(), build.targets.begin(), build.targets.end());
  return run_step(compile, log, build.failure);
}

}  // namespace assay
