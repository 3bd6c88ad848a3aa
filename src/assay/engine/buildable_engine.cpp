#include "assay/engine/buildable_engine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

#include "assay/base/python_command.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay {
namespace {

constexpr std::chrono::minutes kQueryTimeout{1};

constexpr std::array<BuildableEngine, 2> kBuildable = {{
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

}  // namespace

Result<const BuildableEngine*> find_buildable_engine(std::string_view name) {
  const auto* found = std::ranges::find(kBuildable, name, &BuildableEngine::name);
  if (found != kBuildable.end()) {
    return found;
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("cannot build a runner for '{}', only for executorch and openvino; add "
                          "any other engine with --runner or --file",
                          name));
}

Result<std::filesystem::path> find_cmake_package(const std::filesystem::path& prefix,
                                                 const BuildableEngine& engine) {
  for (const auto* folder : engine.folders) {
    for (const auto* file : engine.files) {
      if (std::filesystem::exists(prefix / folder / file)) {
        return std::filesystem::canonical(prefix / folder);
      }
    }
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no {} in '{}' (looked in {}); give the folder that {} was installed to",
                          engine.files.front(), prefix.string(), fmt::join(engine.folders, ", "),
                          engine.name));
}

Result<std::filesystem::path> find_installation(const std::filesystem::path& python,
                                                const BuildableEngine& engine) {
  const auto script = fmt::format(
      "import importlib.util as u, pathlib as p; s = u.find_spec('{}'); "
      "print(p.Path(next(iter(s.submodule_search_locations))) if s else '')",
      engine.name);
  ASSAY_ASSIGN_OR_RETURN(const auto output, run_command({.argv = python_text_argv(python, script),
                                                         .env = python_environment(),
                                                         .stderr_file = "/dev/null"},
                                                        kQueryTimeout));
  const auto folder = output.output.substr(0, output.output.find('\n'));
  if (folder.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("'{}' has no {}; install it there, or give --prefix", python.string(),
                            engine.name));
  }
  return std::filesystem::path(folder);
}

}  // namespace assay
