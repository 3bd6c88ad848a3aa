#include "assay/engine/build_device_engine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/engine/buildable_engine.h"
#include "assay/engine/cmake_build.h"
#include "assay/engine/installed_builds.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// A thing that can be built for devices.
struct DeviceProduct {
  std::string_view name;
  std::string_view engine;  ///< The engine that it is built against.
  std::string_view target;
  std::string_view place;    ///< In the build folder.
  std::string_view sources;  ///< In the source tree.
  std::string_view other;    ///< Switch of what is not wanted.
};

constexpr std::array<DeviceProduct, 3> kProducts = {{
    {"executorch", "executorch", "assay-bundle-executorch", "bundle/executorch", "src/assay",
     "-DASSAY_ENGINE_OPENVINO=OFF"},
    {"openvino", "openvino", "assay-bundle-openvino", "bundle/openvino", "src/assay",
     "-DASSAY_ENGINE_EXECUTORCH=OFF"},
    {"fixedpoint", "executorch", "fixedpoint", "lib/libfixedpoint.so", "delegates/fixedpoint",
     "-DASSAY_ENGINE_OPENVINO=OFF"},
}};

Result<const DeviceProduct*> find_product(const std::string& name) {
  const auto* found = std::ranges::find(kProducts, name, &DeviceProduct::name);
  if (found != kProducts.end()) {
    return found;
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("cannot build '{}' for a device, only executorch, openvino and "
                          "fixedpoint; add a finished runner with --device-bundle",
                          name));
}

Status check_compiler(const std::string& triple) {
  constexpr std::chrono::seconds kTimeout{30};
  const auto compiler = triple + "-g++";
  const auto answer = run_command({.argv = {compiler, "--version"}, .env = {}}, kTimeout);
  if (answer && answer->exit_code == 0) {
    return {};
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("no {} here; install the package g++-{}, which make aarch64 does, or "
                          "give another toolchain with --toolchain FILE.cmake",
                          compiler, triple));
}

/// Definitions that name the toolchain which comes with Assay.
Result<std::vector<std::string>> own_toolchain(const DeviceEngineRequest& request) {
  const auto file = request.source / "cmake" / (request.triple + ".cmake");
  if (!stdfs::exists(file)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("Assay has no toolchain for '{}', only for aarch64-linux-gnu; give one "
                            "with --toolchain FILE.cmake",
                            request.triple));
  }
  ASSAY_RETURN_IF_ERROR(check_compiler(request.triple));
  const auto cpu = request.triple.substr(0, request.triple.find('-'));
  const auto sysroot =
      request.sysroot.empty() ? request.source / "build" / ("sysroot-" + cpu) : request.sysroot;
  if (!stdfs::is_directory(sysroot)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("no libraries for {} in '{}'; make {} in a checkout unpacks them, or "
                            "name a folder that has them with --sysroot",
                            request.triple, sysroot.string(), cpu));
  }
  return std::vector{fmt::format("-DCMAKE_TOOLCHAIN_FILE={}", file.string()),
                     fmt::format("-DASSAY_SYSROOT={}", stdfs::absolute(sysroot).string())};
}

/// A toolchain of the caller's: the device's own loader starts what it makes.
Result<std::vector<std::string>> other_toolchain(const DeviceEngineRequest& request) {
  if (!stdfs::exists(request.toolchain)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no toolchain file '{}'", request.toolchain.string()));
  }
  std::vector<std::string> definitions = {
      fmt::format("-DCMAKE_TOOLCHAIN_FILE={}", stdfs::absolute(request.toolchain).string()),
      "-DASSAY_BUNDLE_LOADER=OFF"};
  if (!request.sysroot.empty()) {
    const auto sysroot = stdfs::absolute(request.sysroot).string();
    definitions.push_back(fmt::format("-DASSAY_SYSROOT={}", sysroot));
    definitions.push_back(fmt::format("-DCMAKE_FIND_ROOT_PATH={}", sysroot));
  }
  return definitions;
}

}  // namespace

Result<stdfs::path> build_device_engine(const DeviceEngineRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto* product, find_product(request.name));
  ASSAY_ASSIGN_OR_RETURN(const auto* engine, find_buildable_engine(product->engine));
  ASSAY_ASSIGN_OR_RETURN(const auto package, find_cmake_package(request.prefix, *engine));
  if (!stdfs::exists(request.source / product->sources)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("'{}' lacks {}; set ASSAY_SOURCE_DIR to a checkout",
                            request.source.string(), product->sources));
  }
  ASSAY_ASSIGN_OR_RETURN(auto definitions, request.toolchain.empty() ? own_toolchain(request)
                                                                     : other_toolchain(request));
  definitions.insert(
      definitions.end(),
      {fmt::format("-DASSAY_TRIPLE={}", request.triple),
       fmt::format("-D{}_DIR={}", engine->package, package.string()),
       fmt::format("-DPython_EXECUTABLE={}", request.python.string()), std::string(product->other),
       "-DASSAY_LINK_ARCHIVES=ON", "-DCMAKE_BUILD_TYPE=Release",
       "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCMAKE_EXE_LINKER_FLAGS_RELEASE=-s",
       "-DCMAKE_SHARED_LINKER_FLAGS_RELEASE=-s"});
  const auto folder =
      engines_folder(request.home) / fmt::format("{}@{}", request.name, request.label);
  ASSAY_RETURN_IF_ERROR(build_with_cmake({.cmake = request.cmake,
                                          .source = request.source,
                                          .folder = folder,
                                          .definitions = std::move(definitions),
                                          .target = std::string(product->target)}));
  return folder / "build" / product->place;
}

}  // namespace assay
