#include "assay/engines/executorch/bundled_backends.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <executorch/runtime/backend/interface.h>
#include <filesystem>
#include <fmt/format.h>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>

#include "assay/base/result.h"
#include "assay/engine/engine.h"

namespace assay::et {
namespace {

namespace stdfs = std::filesystem;

/// A delegate in a library of its own, built upon another engine that is installed apart.
struct BundledBackend {
  const char* name;
  const char* delegate;
  /// Folder of that engine; empty: it is not installed.
  stdfs::path (*find_engine)();
  /// Lets the delegate find it there.
  Status (*prepare)(const stdfs::path& engine);
  const char* how_to_get;
};

/// The folder that the runtime was loaded from; empty if the loader does not tell.
stdfs::path runtime_folder() {
  Dl_info info{};
  const auto* inside = reinterpret_cast<const void*>(&::executorch::runtime::get_backend_class);
  return ::dladdr(inside, &info) != 0 ? stdfs::path(info.dli_fname).parent_path() : stdfs::path();
}

Status open_library(const stdfs::path& library) {
  if (::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    const char* reason = ::dlerror();
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} does not load: {}", library.string(),
                            reason != nullptr ? reason : "no reason given"));
  }
  return {};
}

constexpr const char* kOpenvinoRuntime = "libopenvino_c.so";
/// Folders in which the delegate looks for OpenVINO before it tries the loader's own paths.
constexpr const char* kOpenvinoVariable = "OPENVINO_LIB_PATH";

/// OpenVINO's C library: the user's, or that in the Python package next to ExecuTorch's, whose file
/// bears a version.
stdfs::path find_openvino() {
  if (const char* given = std::getenv(kOpenvinoVariable); given != nullptr) {
    return given;
  }
  std::error_code error;
  const auto folder = runtime_folder() / "../../openvino/libs";
  for (const auto& entry : stdfs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(kOpenvinoRuntime)) {
      return stdfs::weakly_canonical(entry.path(), error);
    }
  }
  return {};
}

Status prepare_openvino(const stdfs::path& engine) {
  ::setenv(kOpenvinoVariable, engine.c_str(), 0);
  return {};
}

constexpr auto kQnnLibraries = std::to_array<const char*>({"libQnnSystem.so", "libQnnHtp.so"});
constexpr const char* kQnnVariable = "QNN_SDK_ROOT";

/// The folder with the libraries of QNN: that of the user's SDK, or the Python package
/// onnxruntime-qnn next to ExecuTorch's.
stdfs::path find_qnn() {
  const char* sdk = std::getenv(kQnnVariable);
  const auto folder = sdk != nullptr && *sdk != '\0' ? stdfs::path(sdk) / "lib/x86_64-linux-clang"
                                                     : runtime_folder() / "../../onnxruntime_qnn";
  std::error_code error;
  return stdfs::exists(folder / kQnnLibraries.back(), error)
             ? stdfs::weakly_canonical(folder, error)
             : stdfs::path();
}

/// The delegate opens them by name alone, which finds what is open already.
Status prepare_qnn(const stdfs::path& engine) {
  for (const auto* library : kQnnLibraries) {
    ASSAY_RETURN_IF_ERROR(open_library(engine / library));
  }
  return {};
}

constexpr auto kBundledBackends = std::to_array<BundledBackend>({
    {.name = "OpenvinoBackend",
     .delegate = "libexecutorch_backend_openvino.so",
     .find_engine = find_openvino,
     .prepare = prepare_openvino,
     .how_to_get = "OpenVINO is not installed beside ExecuTorch: pip install openvino, or name its "
                   "libopenvino_c.so in OPENVINO_LIB_PATH"},
    {.name = "QnnBackend",
     .delegate = "libexecutorch_backend_qnn.so",
     .find_engine = find_qnn,
     .prepare = prepare_qnn,
     .how_to_get =
         "QNN's libraries are not installed beside ExecuTorch: make qnn (they may be used "
         "for development and are not redistributed), or name an SDK in QNN_SDK_ROOT"},
});

bool is_registered(const char* name) {
  return ::executorch::runtime::get_backend_class(name) != nullptr;
}

/// True if its library lies next to the runtime and is not loaded yet.
bool is_waiting(const BundledBackend& backend) {
  std::error_code error;
  return !is_registered(backend.name) && stdfs::exists(runtime_folder() / backend.delegate, error);
}

}  // namespace

std::vector<BackendInfo> bundled_backends() {
  std::vector<BackendInfo> infos;
  for (const auto& backend : kBundledBackends) {
    if (is_waiting(backend)) {
      const bool is_available = !backend.find_engine().empty();
      infos.push_back({.name = backend.name,
                       .is_available = is_available,
                       .reason = is_available ? "" : backend.how_to_get});
    }
  }
  return infos;
}

Status load_bundled_backend(std::string_view name) {
  const auto* backend = std::ranges::find(kBundledBackends, name, &BundledBackend::name);
  if (backend == kBundledBackends.end() || !is_waiting(*backend)) {
    return {};
  }
  if (const auto engine = backend->find_engine(); !engine.empty()) {
    ASSAY_RETURN_IF_ERROR(backend->prepare(engine));
  }
  return open_library(runtime_folder() / backend->delegate);
}

}  // namespace assay::et
