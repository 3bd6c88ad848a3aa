#include "assay/engine/build_device_engine.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <string>
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
  std::string engine;  ///< The engine that it is built against.
  std::string target;
  std::string place;    ///< In the build folder.
  std::string sources;  ///< In the source tree.
  std::string other;    ///< Switch of what is not wanted.
};

DeviceProduct runner_of(const std::string& engine, std::string other) {
  return {.engine = engine,
          .target = "assay-bundle-" + engine,
          .place = "bundle/" + engine,
          .sources = "src/assay",
          .other = std::move(other)};
}

constexpr const char* kWithoutExecutorch = "-DASSAY_ENGINE_EXECUTORCH=OFF";
constexpr const char* kWithoutOpenvino = "-DASSAY_ENGINE_OPENVINO=OFF";

/// A runner, or a delegate of ExecuTorch by the name of its folder in delegates/.
Result<DeviceProduct> find_product(const std::string& name, const stdfs::path& source) {
  if (name == "executorch") {
    return runner_of(name, kWithoutOpenvino);
  }
  if (name == "openvino") {
    return runner_of(name, kWithoutExecutorch);
  }
  const auto delegate = "delegates/" + name;
  if (stdfs::exists(source / delegate / "CMakeLists.txt")) {
    return DeviceProduct{.engine = "executorch",
                         .target = name,
                         .place = fmt::format("lib/lib{}.so", name),
                         .sources = delegate,
                         .other = kWithoutOpenvino};
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("cannot build '{}' for a device, only executorch, openvino and the "
                          "delegates in '{}'; add a finished runner with --device-bundle",
                          name, (source / "delegates").string()));
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
  ASSAY_ASSIGN_OR_RETURN(const auto product, find_product(request.name, request.source));
  ASSAY_ASSIGN_OR_RETURN(const auto* engine, find_buildable_engine(product.engine));
  ASSAY_ASSIGN_OR_RETURN(const auto package, find_cmake_package(request.prefix, *engine));
  if (!stdfs::exists(request.source / product.sources)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("'{}' lacks {}; set ASSAY_SOURCE_DIR to a checkout",
                            request.source.string(), product.sources));
  }
  ASSAY_ASSIGN_OR_RETURN(auto definitions, request.toolchain.empty() ? own_toolchain(request)
                                                                     : other_toolchain(request));
  const auto common = definitions_for_runners();
  definitions.insert(definitions.end(), common.begin(), common.end());
  definitions.insert(
      definitions.end(),
      {fmt::format("-DASSAY_TRIPLE={}", request.triple),
       fmt::format("-D{}_DIR={}", engine->package, package.string()),
       fmt::format("-DPython_EXECUTABLE={}", request.python.string()), product.other,
       "-DASSAY_LINK_ARCHIVES=ON", "-DCMAKE_BUILD_TYPE=Release",
       "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCMAKE_EXE_LINKER_FLAGS_RELEASE=-s",
       "-DCMAKE_SHARED_LINKER_FLAGS_RELEASE=-s"});
  const auto folder =
      engines_folder(request.home) / fmt::format("{}@{}", request.name, request.label);
  ASSAY_RETURN_IF_ERROR(build_with_cmake({.cmake = request.cmake,
                                          .source = request.source,
                                          .folder = folder,
                                          .definitions = std::move(definitions),
                                          .targets = {product.target},
                                          .failure = std::string(kRunnerFailure)}));
  return folder / "build" / product.place;
}

}  // namespace assay
