#include "assay/engines/executorch/runtime_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>
#include <fmt/format.h>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/log.h"

namespace assay::et {
namespace {

constexpr std::size_t kMostLines = 64;

std::mutex g_mutex;
std::vector<std::string> g_error_lines;

/// False when the line is known or there are too many: it is not worth showing.
bool keep_line(std::string_view message) {
  const std::lock_guard lock(g_mutex);
  if (g_error_lines.size() >= kMostLines ||
      std::ranges::find(g_error_lines, message) != g_error_lines.end()) {
    return false;
  }
  g_error_lines.emplace_back(message);
  return true;
}

void emit_log_message(et_timestamp_t /*timestamp*/, et_pal_log_level_t level,
                      const char* /*filename*/, const char* /*function*/, std::size_t /*line*/,
                      const char* message, std::size_t length) {
  const std::string_view text(message, length);
  if (level == kError || level == kFatal) {
    if (keep_line(text)) {
      log_line(LogLevel::kError, fmt::format("executorch: {}", text));
    }
  } else {
    log_line(LogLevel::kDebug, fmt::format("executorch: {}", text));
  }
}

}  // namespace

void capture_runtime_log() {
  static const bool is_registered = [] {
    const bool done = ::executorch::runtime::register_pal(
        ::executorch::runtime::PalImpl::create(emit_log_message, __FILE__));
    ::executorch::runtime::runtime_init();
    return done;
  }();
  static_cast<void>(is_registered);
}

std::vector<std::string> take_error_log() {
  const std::lock_guard lock(g_mutex);
  return std::exchange(g_error_lines, {});
}

}  // namespace assay::et
