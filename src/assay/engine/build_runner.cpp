#include "assay/engine/build_runner.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "assay/base/fs.h"
#include "assay/base/python_command.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/engine/buildable_engine.h"
#include "assay/engine/cmake_build.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::chrono::minutes kQueryTimeout{1};

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

}  // namespace

Result<EngineBuild> build_runner(const RunnerBuildRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto* engine, find_buildable_engine(request.name));
  auto prefix = Result<stdfs::path>(request.prefix);
  if (request.prefix.empty()) {
    prefix = prefix_of_python(request.python, engine->name);
  }
  ASSAY_RETURN_IF_ERROR(prefix);
  ASSAY_ASSIGN_OR_RETURN(const auto package, find_cmake_package(*prefix, *engine));
  const auto folder =
      engines_folder(request.home) / fmt::format("{}@{}", request.name, request.label);
  const auto target = fmt::format("assay-runner-{}", request.name);
  ASSAY_RETURN_IF_ERROR(build_with_cmake(
      {.cmake = request.cmake,
       .source = request.source,
       .folder = folder,
       .definitions = {"-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                       fmt::format("-D{}_DIR={}", engine->package, package.string())},
       .target = target}));
  return register_runner(request.home, folder / "build" / "bin" / target, request.name,
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
