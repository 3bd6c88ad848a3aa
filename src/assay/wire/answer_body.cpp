#include "assay/wire/answer_body.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::wire {
namespace {

constexpr std::size_t kMostShownBytes = 100;

std::string shown(const Json& value) {
  auto text = value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  return text.size() > kMostShownBytes ? text.substr(0, kMostShownBytes) + "…" : text;
}

/// Tells apart two numbers that nlohmann holds equal: 2^63 and the int64 that it wraps around to.
bool is_wrapped_around(const Json& sent, const Json& read) {
  return sent.is_number_unsigned() && !std::in_range<std::int64_t>(sent.get<std::uint64_t>()) &&
         read.is_number_integer() && !read.is_number_unsigned();
}

}  // namespace

// NOLINTNEXTLINE(misc-no-recursion)
Status check_is_kept(const Json& sent, const Json& read, const std::string& path) {
  if (sent.is_object() && read.is_object()) {
    for (const auto& [name, value] : read.items()) {
      if (const auto found = sent.find(name); found != sent.end()) {
        ASSAY_RETURN_IF_ERROR(
            check_is_kept(*found, value, path.empty() ? name : fmt::format("{}.{}", path, name)));
      }
    }
    return {};
  }
  if (sent.is_array() && read.is_array() && sent.size() == read.size()) {
    for (std::size_t i = 0; i < sent.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(check_is_kept(sent[i], read[i], fmt::format("{}[{}]", path, i)));
    }
    return {};
  }
  if (sent == read && !is_wrapped_around(sent, read)) {
    return {};
  }
  return fail(ErrorCode::kCorrupt, fmt::format("{} is {}, which its type cannot hold: it reads {}",
                                               path, shown(sent), shown(read)));
}

}  // namespace assay::wire
