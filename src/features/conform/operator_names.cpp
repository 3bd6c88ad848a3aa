#include "features/conform/operator_names.h"

#include "conform_data.h"
#include "features/conform/glob.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"

namespace assay {
namespace {

constexpr std::string_view kNamespace = "aten.";
constexpr std::size_t kMostNamed = 4;

std::vector<std::string> read_operator_names() {
  const auto document = parse_json(conform_data("names.json"), "names.json");
  ASSAY_CHECK(document.has_value());
  return document->at("operators").get<std::vector<std::string>>();
}

/// Overloads of an operator that is named without its namespace, or names that contain the text.
std::vector<std::string> find_meant(std::string_view text) {
  std::vector<std::string> overloads;
  std::vector<std::string> wholes;
  const auto packet = fmt::format("{}{}.", kNamespace, text);
  for (const auto& name : operator_names()) {
    if (name.starts_with(packet)) {
      overloads.push_back(name);
    } else if (name.find(text) != std::string::npos) {
      wholes.push_back(name);
    }
  }
  auto& meant = overloads.empty() ? wholes : overloads;
  meant.resize(std::min(meant.size(), kMostNamed));
  return meant;
}

}  // namespace

std::span<const std::string> operator_names() {
  static const auto names = read_operator_names();
  return names;
}

std::string advice_on_pattern(std::string_view pattern) {
  const auto fits = [pattern](const std::string& name) { return is_glob_match(pattern, name); };
  if (pattern.find('/') != std::string_view::npos || std::ranges::any_of(operator_names(), fits)) {
    return "";
  }
  std::string bare;
  std::ranges::copy_if(pattern, std::back_inserter(bare), [](char c) { return c != '*'; });
  auto meant = bare.empty() ? std::vector<std::string>() : find_meant(bare);
  if (const auto nearest = find_nearest_name(bare, operator_names());
      meant.empty() && !nearest.empty()) {
    meant.push_back(nearest);
  }
  const bool may_be_newer = pattern.starts_with(kNamespace) || pattern.starts_with('*');
  if (meant.empty() && may_be_newer) {
    return "";
  }
  return fmt::format(
      "no operator matches '{}'; {}{}", pattern,
      meant.empty() ? "" : fmt::format("did you mean {}? ", fmt::join(meant, ", ")),
      "write a full name, such as aten.add.Tensor, or a pattern, such as 'aten.add*'");
}

}  // namespace assay
