#include "assay/base/log.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "assay/base/output.h"
#include "assay/base/text.h"

namespace assay {
namespace {

std::atomic<LogLevel>& threshold() {
  static std::atomic<LogLevel> level{std::getenv("ASSAY_DEBUG") != nullptr ? LogLevel::kDebug
                                                                           : LogLevel::kInfo};
  return level;
}

std::string_view prefix_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug: ";
    case LogLevel::kInfo:
      return "";
    case LogLevel::kWarning:
      return "warning: ";
    case LogLevel::kError:
      return "error: ";
  }
  return "";
}

}  // namespace

void log_line(LogLevel level, std::string_view text) {
  if (level < threshold().load()) {
    return;
  }
  std::string line(prefix_of(level));
  line.append(printable_lines(text)).push_back('\n');
  write_stderr(line);
}

void set_log_threshold(LogLevel level) { threshold().store(level); }

}  // namespace assay
