#include "assay/device/oom_kills.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/device/text_fields.h"

namespace assay {

std::int64_t count_oom_kills() {
  constexpr std::string_view kKey = "\noom_kill ";
  const auto text = read_system_text("/proc/vmstat").value_or("");
  const auto at = text.find(kKey);
  return at == std::string::npos
             ? 0
             : leading_integer(std::string_view(text).substr(at + kKey.size())).value_or(0);
}

}  // namespace assay
