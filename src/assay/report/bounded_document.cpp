#include "assay/report/bounded_document.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/report/json_lines.h"

namespace assay::report {
namespace {

constexpr std::size_t kBytesOfFloat = 25;  ///< The longest number with its comma.

std::size_t bytes_of_text(std::string_view text) {
  constexpr std::size_t kEscaped = 6;      // \u003c for '<', \u001b for a control character.
  constexpr std::size_t kReplacement = 3;  // U+FFFD for a byte that is no UTF-8.
  std::size_t bytes = 2;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    bytes += c == '<' || byte < 0x20 ? kEscaped
             : c == '"' || c == '\\' ? 2
             : byte < 0x80           ? 1
                                     : kReplacement;
  }
  return bytes;
}

std::size_t bytes_of_integer(std::int64_t value) {
  std::size_t digits = value < 0 ? 2 : 1;
  for (; value >= 10 || value <= -10; value /= 10) {
    ++digits;
  }
  return digits;
}

/// An upper bound of what a document takes in a page, without writing it.
template <class AnyJson>
std::size_t most_bytes_of(const AnyJson& json) {
  if (json.is_string()) {
    return bytes_of_text(json.template get_ref<const std::string&>());
  }
  if (json.is_number_integer()) {
    return bytes_of_integer(json.template get<std::int64_t>());
  }
  if (!json.is_structured()) {
    return kBytesOfFloat;
  }
  std::size_t bytes = 2;
  if (json.is_array()) {
    for (const auto& value : json) {
      bytes += most_bytes_of(value) + 1;
    }
    return bytes;
  }
  for (const auto& [key, value] : json.items()) {
    bytes += bytes_of_text(key) + most_bytes_of(value) + 2;
  }
  return bytes;
}

std::vector<std::size_t> sizes_of(const Json& items) {
  std::vector<std::size_t> sizes;
  for (const auto& item : items) {
    sizes.push_back(most_bytes_of(item) + 2);
  }
  return sizes;
}

/// The items that fit, the smallest ranks first, in their order. One that is too large leaves its
/// room to the others.
Json fitting_items(Json items, const std::vector<std::size_t>& sizes, std::size_t room,
                   const std::function<int(const Json&)>& rank) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(rank(items[i]), i); });
  std::size_t bytes = 0;
  std::erase_if(order, [&](std::size_t i) {
    const bool fits = bytes + sizes[i] <= room;
    bytes += fits ? sizes[i] : 0;
    return !fits;
  });
  std::ranges::sort(order);
  Json kept = Json::array();
  for (const auto i : order) {
    kept.push_back(std::move(items[i]));
  }
  return kept;
}

}  // namespace

std::string bounded_document(OrderedJson head, std::string_view field, Json items,
                             std::span<const OptionalPart> parts,
                             const std::function<int(const Json&)>& rank) {
  constexpr std::size_t kRoomOfNotice = 2000;
  const auto taken = most_bytes_of(head) + kRoomOfNotice;
  const auto room = kMostPageDataBytes > taken ? kMostPageDataBytes - taken : 0;
  const auto total = items.size();
  auto left_out = Json::array();
  auto sizes = sizes_of(items);
  const auto is_too_large = [&] {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) > room;
  };
  for (auto part = parts.begin(); part != parts.end() && is_too_large(); ++part) {
    std::ranges::for_each(items, part->remove);
    left_out.push_back(part->words);
    sizes = sizes_of(items);
  }
  if (is_too_large()) {
    items = fitting_items(std::move(items), sizes, room, rank);
    left_out.push_back(fmt::format("{} of {} {}", total - items.size(), total, field));
  }
  if (!left_out.empty()) {
    head["page"] = {{"items", total}, {"left_out", left_out}};
  }
  return document_with_items(head, field, items);
}

}  // namespace assay::report
