#include "assay/engines/executorch/runtime_log.h"

#include <cstddef>
#include <cstdlib>
#include <deque>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <string_view>

#include "assay/base/log.h"

namespace assay::et {
namespace {

constexpr std::size_t kMostLines = 6;

std::mutex g_mutex;
std::deque<std::string> g_error_lines;  // NOLINT(bugprone-throwing-static-initialization)

void keep_line(std::string_view message) {
  const std::lock_guard lock(g_mutex);
  g_error_lines.emplace_back(message);
  if (g_error_lines.size() > kMostLines) {
    g_error_lines.pop_front();
  }
}

void emit_log_message(et_timestamp_t /*timestamp*/, et_pal_log_level_t level,
                      const char* /*filename*/, const char* /*function*/, std::size_t /*line*/,
                      const char* message, std::size_t length) {
  const std::string_view text(message, length);
  if (level == kError || level == kFatal) {
    keep_line(text);
    log_line(LogLevel::kError, fmt::format("executorch: {}", text));
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

std::string take_error_log() {
  const std::lock_guard lock(g_mutex);
  std::string text = fmt::format("{}", fmt::join(g_error_lines, "; "));
  g_error_lines.clear();
  return text;
}

}  // namespace assay::et
