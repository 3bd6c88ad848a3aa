#include "assay/remote/strict_keys.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"

namespace assay {

Status check_keys(const Json& document, std::string_view what,
                  std::initializer_list<std::string_view> keys) {
  if (!document.is_object()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} must be an object", what));
  }
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (const auto& [key, value] : document.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: unknown key '{}'{}", what, key, suggestion_for(key, known)));
    }
  }
  return {};
}

}  // namespace assay
