#include "assay/engine/build_from_checkout.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/build_runner.h"
#include "assay/engine/checkout_backends.h"
#include "assay/engine/checkout_check.h"
#include "assay/engine/cmake_build.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

std::vector<std::string> names_of(const CheckoutRequest& request) {
  std::vector<std::string> names;
  names.reserve(request.backends.size());
  for (const auto* backend : request.backends) {
    names.emplace_back(backend->name);
  }
  return names;
}

/// Names the sources of a build for people: "vulkan of ExecuTorch 1.5.1 at cff6f4dd32e6".
std::string origin_of(const CheckoutRequest& request, const CheckoutTools& tools) {
  return fmt::format("{} of ExecuTorch {}{}", fmt::join(names_of(request), ", "), tools.version,
                     tools.commit.empty() ? "" : " at " + tools.commit);
}

std::vector<std::string> definitions_of(const CheckoutRequest& request,
                                        const CheckoutTools& tools) {
  std::vector<std::string> definitions = {
      "-DCMAKE_BUILD_TYPE=Release",
      fmt::format("-Dexecutorch_DIR={}", tools.package.string()),
      fmt::format("-DASSAY_CHECKOUT={}", stdfs::absolute(request.checkout).string()),
      fmt::format("-DASSAY_BACKENDS={}", fmt::join(names_of(request), ";")),
      fmt::format("-DASSAY_PYTHON={}", request.python.string()),
      fmt::format("-DASSAY_MISSING_EXTENSIONS={}", fmt::join(tools.missing_extensions, ";"))};
  const auto add = [&definitions](const char* name, const stdfs::path& value) {
    if (!value.empty()) {
      definitions.push_back(fmt::format("-D{}={}", name, value.string()));
    }
  };
  add("GLSLC_PATH", tools.glslc);
  add("ASSAY_FLATC", tools.flatc);
  add("EXECUTORCH_VGF_ROOT", tools.vgf);
  return definitions;
}

/// Builds the libraries; their paths.
Result<std::vector<std::string>> build_backends(const CheckoutBuildRequest& request,
                                                const CheckoutTools& tools,
                                                const stdfs::path& folder) {
  std::vector<std::string> targets;
  std::vector<std::string> libraries;
  for (const auto* backend : request.from.backends) {
    targets.emplace_back(backend->target);
    libraries.push_back((folder / "build/lib" / fmt::format("lib{}.so", backend->target)).string());
  }
  ASSAY_RETURN_IF_ERROR(
      build_with_cmake({.cmake = request.from.cmake,
                        .source = request.source / "cmake/executorch_backends",
                        .folder = folder,
                        .definitions = definitions_of(request.from, tools),
                        .targets = std::move(targets),
                        .failure = fmt::format("the backends do not build from '{}'",
                                               request.from.checkout.string())}));
  return libraries;
}

}  // namespace

Result<EngineBuild> build_from_checkout(const CheckoutBuildRequest& request,
                                        const CheckoutTools& tools) {
  const auto folder =
      engines_folder(request.home) / fmt::format("executorch@{}", request.label) / "backends";
  ASSAY_ASSIGN_OR_RETURN(const auto libraries, build_backends(request, tools, folder));
  return build_runner(
      {.name = "executorch",
       .label = request.label,
       .prefix = tools.prefix,
       .python = {},
       .cmake = request.from.cmake,
       .source = request.source,
       .home = request.home,
       .definitions = {
           fmt::format("-DASSAY_EXECUTORCH_BACKENDS={}", fmt::join(libraries, ";")),
           fmt::format("-DASSAY_EXECUTORCH_BACKENDS_ORIGIN={}", origin_of(request.from, tools))}});
}

}  // namespace assay
