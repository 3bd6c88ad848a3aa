#pragma once

#include <cstdint>
#include <string_view>

namespace assay {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

/// Writes one line to stderr if `level` is at least the threshold, without what could steer a
/// terminal. Thread-safe: one write per line.
void log_line(LogLevel level, std::string_view text);

/// Lines below `level` are dropped; the default is kInfo, or kDebug when ASSAY_DEBUG is set.
void set_log_threshold(LogLevel level);

}  // namespace assay
