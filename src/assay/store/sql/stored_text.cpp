#include "assay/store/sql/stored_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "assay/base/text.h"

namespace assay::sql {
namespace {

constexpr std::string_view kForNul = "\xef\xbf\xbd";

bool is_plain(char c) { return c != '\0' && static_cast<unsigned char>(c) < 0x80; }

}  // namespace

std::optional<std::string> mended_text(std::string_view given) {
  if (std::ranges::all_of(given, is_plain)) {
    return std::nullopt;
  }
  auto text = valid_utf8(given);
  for (auto at = text.find('\0'); at != std::string::npos; at = text.find('\0', at)) {
    text.replace(at, 1, kForNul);
  }
  return text;
}

}  // namespace assay::sql
