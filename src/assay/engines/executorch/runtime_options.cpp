#include "assay/engines/executorch/runtime_options.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/backend/options.h>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engines/executorch/runtime_error.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

// The thread pool's library is in ExecuTorch's package, its header is not: these are the members
// used here, as declared in extension/threadpool/threadpool.h of ExecuTorch 1.5.
namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  [[nodiscard]] std::size_t get_thread_count() const;
  bool _unsafe_reset_threadpool(std::uint32_t num_threads);  // NOLINT
};
ThreadPool* get_threadpool();
}  // namespace executorch::extension::threadpool

namespace assay::et {
namespace {

using ::executorch::extension::threadpool::get_threadpool;
using ::executorch::runtime::BackendOption;
using ::executorch::runtime::OptionValue;

constexpr const char* kXnnpackBackend = "XnnpackBackend";
constexpr const char* kWorkspaceKey = "workspace_sharing_mode";
constexpr const char* kWeightCacheKey = "weight_cache_enabled";
constexpr std::array<std::string_view, 3> kWorkspaceModes = {"disabled", "per_model", "global"};

BackendOption backend_option(const char* key, OptionValue value) {
  BackendOption option{};
  std::strncpy(option.key, key, sizeof option.key - 1);
  option.value = value;
  return option;
}

Status set_xnnpack_option(const char* key, OptionValue value) {
  auto option = backend_option(key, value);
  return status_from(fmt::format("XNNPACK refuses option {}", key),
                     ::executorch::runtime::set_option(kXnnpackBackend, {&option, 1}));
}

/// The value in force, or nothing when the backend is absent or does not tell.
template <class T>
std::optional<T> read_xnnpack_option(const char* key) {
  auto option = backend_option(key, T{});
  if (::executorch::runtime::get_option(kXnnpackBackend, {&option, 1}) !=
      ::executorch::runtime::Error::Ok) {
    return std::nullopt;
  }
  const T* value = std::get_if<T>(&option.value);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

int workspace_mode_from(std::string_view name) {
  for (std::size_t i = 0; i < kWorkspaceModes.size(); ++i) {
    if (kWorkspaceModes[i] == name) {
      return static_cast<int>(i);
    }
  }
  return 0;
}

Status set_threads(int threads) {
  auto* pool = get_threadpool();
  if (pool == nullptr || !pool->_unsafe_reset_threadpool(static_cast<std::uint32_t>(threads))) {
    return fail(ErrorCode::kEngine,
                fmt::format("the thread pool could not be set to {} threads", threads));
  }
  return {};
}

/// True if denormal numbers become zero on this thread; nothing where this cannot be read.
std::optional<bool> reads_flush_to_zero() {
#if defined(__SSE__)
  constexpr unsigned kFlushToZeroAndDenormalsAreZero = 0x8040;
  return (_mm_getcsr() & kFlushToZeroAndDenormalsAreZero) != 0;
#elif defined(__aarch64__)
  std::uint64_t fpcr = 0;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  return (fpcr & (1ULL << 24)) != 0;
#else
  return std::nullopt;
#endif
}

}  // namespace

std::vector<OptionSchema> option_schema() {
  return {
      threads_option(
          "Size of the thread pool of XNNPACK and the optimized kernels; default: the engine's own "
          "choice."),
      {.name = "load_mode",
       .type = "string",
       .values = {"file", "mmap"},
       .default_value = "file",
       .scope = "load",
       .description = "Read the program into memory, or map it."},
      {.name = "verify",
       .type = "bool",
       .default_value = false,
       .scope = "load",
       .description = "Check the whole program's consistency at load; slower."},
      {.name = "xnnpack_workspace_sharing",
       .type = "string",
       .values = {"disabled", "per_model", "global"},
       .scope = "load",
       .description = "Which delegates share XNNPACK's workspace; default: the engine's own."},
      {.name = "xnnpack_weight_cache",
       .type = "bool",
       .scope = "load",
       .description = "Whether XNNPACK shares packed weights; default: the engine's own."},
      {.name = "etdump",
       .type = "string",
       .scope = "run",
       .description = "File for an ETDump of one inference, written by the profile pass."},
  };
}

Status apply_process_options(const Json& options) {
  if (options.contains("threads")) {
    ASSAY_RETURN_IF_ERROR(set_threads(options["threads"].get<int>()));
  }
  if (options.contains("xnnpack_workspace_sharing")) {
    const auto name = options["xnnpack_workspace_sharing"].get<std::string>();
    ASSAY_RETURN_IF_ERROR(set_xnnpack_option(kWorkspaceKey, workspace_mode_from(name)));
  }
  if (options.contains("xnnpack_weight_cache")) {
    ASSAY_RETURN_IF_ERROR(
        set_xnnpack_option(kWeightCacheKey, options["xnnpack_weight_cache"].get<bool>()));
  }
  return {};
}

Json effective_options(const Json& requested) {
  Json effective = requested;
  if (const auto* pool = get_threadpool(); pool != nullptr) {
    effective["threads"] = pool->get_thread_count();
  }
  if (const auto mode = read_xnnpack_option<int>(kWorkspaceKey);
      mode && *mode >= 0 && static_cast<std::size_t>(*mode) < kWorkspaceModes.size()) {
    effective["xnnpack_workspace_sharing"] = kWorkspaceModes[static_cast<std::size_t>(*mode)];
  }
  if (const auto cache = read_xnnpack_option<bool>(kWeightCacheKey)) {
    effective["xnnpack_weight_cache"] = *cache;
  }
  if (const auto flushes = reads_flush_to_zero()) {
    effective["flush_to_zero"] = *flushes;
  }
  return effective;
}

}  // namespace assay::et
