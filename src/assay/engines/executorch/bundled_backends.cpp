#include "assay/engines/executorch/bundled_backends.h"

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

constexpr const char* kOpenvino = "OpenvinoBackend";
constexpr const char* kOpenvinoDelegate = "libexecutorch_backend_openvino.so";
constexpr const char* kOpenvinoRuntime = "libopenvino_c.so";
/// Where the delegate looks for OpenVINO before it tries the loader's own paths.
constexpr const char* kOpenvinoVariable = "OPENVINO_LIB_PATH";

/// The folder that the runtime was loaded from; empty where the loader does not tell.
stdfs::path runtime_folder() {
  Dl_info info{};
  const auto* inside = reinterpret_cast<const void*>(&::executorch::runtime::get_backend_class);
  return ::dladdr(inside, &info) != 0 ? stdfs::path(info.dli_fname).parent_path() : stdfs::path();
}

/// OpenVINO's C library in the Python package beside ExecuTorch's; its file bears a version.
stdfs::path find_openvino() {
  std::error_code error;
  const auto folder = runtime_folder() / "../../openvino/libs";
  for (const auto& entry : stdfs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(kOpenvinoRuntime)) {
      return stdfs::weakly_canonical(entry.path(), error);
    }
  }
  return {};
}

bool is_registered(const char* name) {
  return ::executorch::runtime::get_backend_class(name) != nullptr;
}

}  // namespace

std::vector<BackendInfo> bundled_backends() {
  std::error_code error;
  if (is_registered(kOpenvino) || !stdfs::exists(runtime_folder() / kOpenvinoDelegate, error)) {
    return {};
  }
  const bool is_available = std::getenv(kOpenvinoVariable) != nullptr || !find_openvino().empty();
  return {{.name = kOpenvino,
           .is_available = is_available,
           .reason = is_available ? ""
                                  : "OpenVINO is not installed beside ExecuTorch: pip install "
                                    "openvino, or name its libopenvino_c.so in OPENVINO_LIB_PATH"}};
}

Status load_bundled_backend(std::string_view name) {
  const auto library = runtime_folder() / kOpenvinoDelegate;
  std::error_code error;
  if (name != kOpenvino || is_registered(kOpenvino) || !stdfs::exists(library, error)) {
    return {};
  }
  if (const auto openvino = find_openvino(); !openvino.empty()) {
    ::setenv(kOpenvinoVariable, openvino.c_str(), 0);
  }
  if (::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    const char* reason = ::dlerror();
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} does not load: {}", library.string(),
                            reason != nullptr ? reason : "no reason given"));
  }
  return {};
}

}  // namespace assay::et
