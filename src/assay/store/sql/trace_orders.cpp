#include "assay/store/sql/trace_orders.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"

namespace assay::sql {
namespace {

using Order = std::vector<std::string>;

/// 720 orders.
constexpr std::size_t kMostPermuted = 6;

// Source: Unicode CLDR, allkeys_CLDR.txt, the order of variable elements.
constexpr std::string_view kPunctuation = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Letters decide first, then their cases, then the bytes.
std::tuple<std::string, std::string, std::string_view> dictionary_key(std::string_view text,
                                                                      Punctuation punctuation) {
  std::string letters;
  std::string cases;
  for (const char c : text) {
    const auto place = kPunctuation.find(c);
    if (place != std::string_view::npos) {
      if (punctuation == Punctuation::kCounts) {
        letters += static_cast<char>(1 + place);
        cases += '0';
      }
      continue;
    }
    letters += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    cases += is_letter(c) && is_upper(c) ? '1' : '0';
  }
  return {std::move(letters), std::move(cases), text};
}

Order in_dictionary(Order channels, Punctuation punctuation) {
  std::ranges::sort(channels, [punctuation](const auto& a, const auto& b) {
    return comes_before_in_dictionary(a, b, punctuation);
  });
  return channels;
}

Result<Order> order_of_database(Connection& connection, const std::string& launch) {
  return collect(connection.prepare(
                     fmt::format("SELECT channel FROM trace WHERE launch = ? ORDER BY channel {}",
                                 connection.default_collation()),
                     launch),
                 [](Statement& row) { return Result<std::string>(row.text(0)); });
}

}  // namespace

bool comes_before_in_dictionary(std::string_view a, std::string_view b, Punctuation punctuation) {
  return dictionary_key(a, punctuation) < dictionary_key(b, punctuation);
}

Result<std::vector<Order>> other_trace_orders(Connection& connection, const std::string& launch,
                                              Order channels) {
  std::vector<Order> orders;
  if (channels.size() < 2) {
    return orders;
  }
  ASSAY_ASSIGN_OR_RETURN(orders.emplace_back(), order_of_database(connection, launch));
  for (const auto punctuation : {Punctuation::kCounts, Punctuation::kIgnored}) {
    orders.push_back(in_dictionary(channels, punctuation));
  }
  if (channels.size() <= kMostPermuted) {
    std::ranges::sort(channels);
    while (std::ranges::next_permutation(channels).found) {
      orders.push_back(channels);
    }
  }
  return orders;
}

}  // namespace assay::sql
