#include "assay/base/json.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {

Result<Json> parse_json(std::string_view text, std::string_view origin) {
  try {
    return Json::parse(text, nullptr, /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const Json::exception& error) {  // Also for a number that is too big.
    std::string_view what = error.what();
    if (const auto bracket = what.find("] "); bracket != std::string_view::npos) {
      what.remove_prefix(bracket + 2);
    }
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: not valid JSON: {}", origin, what));
  }
}

Result<Json> read_json_file(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const auto text, read_file(path));
  return parse_json(text, path.string());
}

std::string canonical_json(const Json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

std::string digest_of_json(const Json& value) { return sha256_hex(canonical_json(value)); }

}  // namespace assay
