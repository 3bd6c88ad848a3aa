#include "assay/engine/build_runner.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/engine/buildable_engine.h"
#include "assay/engine/cmake_build.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"

namespace assay {

namespace stdfs = std::filesystem;

Result<EngineBuild> build_runner(const RunnerBuildRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto* engine, find_buildable_engine(request.name));
  auto prefix = Result<stdfs::path>(request.prefix);
  if (request.prefix.empty()) {
    prefix = find_installation(request.python, *engine);
  }
  ASSAY_RETURN_IF_ERROR(prefix);
  ASSAY_ASSIGN_OR_RETURN(const auto package, find_cmake_package(*prefix, *engine));
  const auto folder =
      engines_folder(request.home) / fmt::format("{}@{}", request.name, request.label);
  const auto target = fmt::format("assay-runner-{}", request.name);
  auto definitions = definitions_for_runners();
  definitions.insert(definitions.end(),
                     {"-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                      fmt::format("-D{}_DIR={}", engine->package, package.string())});
  definitions.insert(definitions.end(), request.definitions.begin(), request.definitions.end());
  ASSAY_RETURN_IF_ERROR(build_with_cmake({.cmake = request.cmake,
                                          .source = request.source,
                                          .folder = folder,
                                          .definitions = std::move(definitions),
                                          .targets = {target},
                                          .failure = std::string(kRunnerFailure)}));
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
