#include "assay/spec/node.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/base/units.h"

namespace assay {
namespace {

constexpr std::size_t kMostShown = 40;

/// A text as itself, for it may be one of a command line, where everything is text.
std::string describe_text(const std::string& text) {
  return text.size() <= kMostShown ? fmt::format("'{}'", text) : "a string";
}

std::string describe_type(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return describe_text(value.get<std::string>());
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::number_float: {
      // A whole number that 64 bits do not hold is read as a floating one.
      const double number = value.get<double>();
      return number == std::floor(number) && std::abs(number) >= 0x1p63 ? "a number out of range"
                                                                        : "a fraction";
    }
    default:
      return "a whole number";
  }
}

std::string join_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

}  // namespace

void Problems::add(std::string_view path, std::string_view text) {
  lines_.push_back(path.empty() ? fmt::format("{}: {}", origin_, text)
                                : fmt::format("{}: {}: {}", origin_, path, text));
}

Status Problems::status() const {
  if (lines_.empty()) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument, fmt::format("{}", fmt::join(lines_, "\n")));
}

void Node::complain(std::string_view text) const { problems_->add(path_, text); }

void Node::complain_of_type(std::string_view wanted) const {
  complain(fmt::format("must be {}, not {}", wanted, describe_type(*value_)));
}

bool Node::expect_object(std::span<const std::string_view> known) const {
  if (!value_->is_object()) {
    complain_of_type("an object");
    return false;
  }
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [key, ignored] : value_->items()) {
    if (std::ranges::find(known, key) == known.end()) {
      complain(fmt::format("unknown key '{}'{}", key, suggestion_for(key, names)));
    }
  }
  return true;
}

std::optional<Node> Node::find(std::string_view key) const {
  const auto found = value_->is_object() ? value_->find(key) : value_->end();
  if (found == value_->end() || found->is_null()) {
    return std::nullopt;
  }
  return Node(*found, join_path(path_, key), *problems_);
}

std::vector<Node> Node::items() const {
  std::vector<Node> items;
  if (!value_->is_array()) {
    complain_of_type("a list");
    return items;
  }
  for (const auto& item : *value_) {
    items.emplace_back(item, fmt::format("{}[{}]", path_, items.size()), *problems_);
  }
  return items;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  std::vector<std::pair<std::string, Node>> members;
  if (!value_->is_object()) {
    complain_of_type("an object");
    return members;
  }
  for (const auto& [key, value] : value_->items()) {
    members.emplace_back(key, Node(value, join_path(path_, key), *problems_));
  }
  return members;
}

std::string Node::text() const {
  if (!value_->is_string()) {
    complain_of_type("a string");
    return {};
  }
  return value_->get<std::string>();
}

std::int64_t Node::integer(std::int64_t least, std::int64_t fallback) const {
  if (!value_->is_number_integer()) {
    complain_of_type("a whole number");
    return fallback;
  }
  constexpr auto kMost = std::numeric_limits<int>::max();
  // A number beyond int64 reads as a huge unsigned one.
  const bool is_huge = value_->is_number_unsigned() && value_->get<std::uint64_t>() > kMost;
  if (is_huge || value_->get<std::int64_t>() < least) {
    complain(fmt::format("must be from {} to {}, not {}", least, kMost, value_->dump()));
    return fallback;
  }
  return value_->get<std::int64_t>();
}

std::string Node::text(std::string_view key, std::string fallback) const {
  const auto member = find(key);
  return member ? member->text() : std::move(fallback);
}

int Node::integer(std::string_view key, int least, int fallback) const {
  const auto member = find(key);
  return member ? static_cast<int>(member->integer(least, fallback)) : fallback;
}

std::uint64_t Node::seed(std::string_view key, std::uint64_t fallback) const {
  const auto member = find(key);
  if (!member) {
    return fallback;
  }
  if (!member->value_->is_number_unsigned()) {
    member->complain_of_type("a whole number of at least 0");
    return fallback;
  }
  return member->value_->get<std::uint64_t>();
}

std::int64_t Node::duration_ns(std::string_view key, std::int64_t fallback) const {
  const auto member = find(key);
  if (!member) {
    return fallback;
  }
  if (!member->value_->is_string()) {
    member->complain_of_type("a duration with its unit in quotes, such as \"20s\"");
    return fallback;
  }
  const auto ns = duration_ns_from_text(member->value_->get<std::string>());
  if (!ns) {
    member->complain(ns.error().message);
  }
  return ns.value_or(fallback);
}

std::vector<std::string> Node::texts(std::string_view key,
                                     std::vector<std::string> fallback) const {
  const auto member = find(key);
  if (!member) {
    return fallback;
  }
  std::vector<std::string> texts;
  for (const auto& item : member->items()) {
    texts.push_back(item.text());
  }
  return texts;
}

}  // namespace assay
