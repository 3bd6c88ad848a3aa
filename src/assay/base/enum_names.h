#pragma once

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// The snake_case names of an enumeration, the same in C++, JSON and SQL. Specialise it next to the
/// enum:
///   template <> inline constexpr auto kEnumNames<Color> =
///   std::to_array<EnumName<Color>>({{Color::kRed, "red"}});
template <class E>
using EnumName = std::pair<E, std::string_view>;

template <class E>
inline constexpr std::nullptr_t kEnumNames = nullptr;

template <class E>
concept NamedEnum =
    std::is_enum_v<E> && !std::is_null_pointer_v<std::remove_cv_t<decltype(kEnumNames<E>)>>;

template <NamedEnum E>
constexpr std::string_view name_of(E value) {
  for (const auto& [candidate, name] : kEnumNames<E>) {
    if (candidate == value) {
      return name;
    }
  }
  return "?";
}

template <NamedEnum E>
constexpr std::optional<E> find_enum(std::string_view name) {
  for (const auto& [value, candidate] : kEnumNames<E>) {
    if (candidate == name) {
      return value;
    }
  }
  return std::nullopt;
}

/// Errors: kInvalidArgument, listing the names.
template <NamedEnum E>
Result<E> enum_from_name(std::string_view name) {
  if (const auto found = find_enum<E>(name)) {
    return *found;
  }
  std::vector<std::string_view> names;
  names.reserve(std::size(kEnumNames<E>));
  for (const auto& entry : kEnumNames<E>) {
    names.push_back(entry.second);
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is not one of: {}", name, fmt::join(names, ", ")));
}

}  // namespace assay

namespace nlohmann {

template <assay::NamedEnum E>
struct adl_serializer<E> {
  static void to_json(json& j, E value) { j = std::string(assay::name_of(value)); }
  static void from_json(const json& j, E& value) {
    const auto name = j.get<std::string>();
    const auto found = assay::find_enum<E>(name);
    if (!found) {
      throw std::invalid_argument("unknown name '" + name + "'");
    }
    value = *found;
  }
};

/// An absent value is null.
template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& j, const std::optional<T>& value) {
    j = value ? json(*value) : json(nullptr);
  }
  static void from_json(const json& j, std::optional<T>& value) {
    value = j.is_null() ? std::nullopt : std::optional<T>(j.get<T>());
  }
};

}  // namespace nlohmann
