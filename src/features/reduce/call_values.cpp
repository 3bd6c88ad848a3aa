#include "features/reduce/call_values.h"

#include "features/reduce/call_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"

namespace assay {
namespace {

using Pointer = Json::json_pointer;

constexpr std::size_t kMostSingles = 64;  ///< Elements that are tried one by one.

bool is_simple(const Json& value) { return value.is_number() && (value == 0 || value == 1); }

/// Puts `value` for the elements at `places`.
CallChange put(const Json& call, const Pointer& path, const std::vector<std::size_t>& places,
               int value) {
  CallChange change{call, ""};
  auto& data = change.call.at(path)["data"];
  for (const auto place : places) {
    data[place] = value;
  }
  change.what = fmt::format("{} of {} elements of {}: {}", places.size(), data.size(),
                            text_of_place(path), value);
  return change;
}

std::vector<std::size_t> odd_places(const Json& data) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!is_simple(data[i])) {
      places.push_back(i);
    }
  }
  return places;
}

/// All, halves, quarters, … and each place by itself.
std::vector<std::vector<std::size_t>> groups_of(const std::vector<std::size_t>& places) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t size = places.size(); size > 0; size = size == 1 ? 0 : (size + 1) / 2) {
    if (size == 1 && places.size() > kMostSingles) {
      break;
    }
    for (std::size_t begin = 0; begin < places.size(); begin += size) {
      const auto end = std::min(places.size(), begin + size);
      groups.emplace_back(places.begin() + static_cast<std::ptrdiff_t>(begin),
                          places.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }
  return groups;
}

/// The number with so many significant digits; infinite where that is too large.
double rounded(double value, int digits) {
  return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
}

void add_digits(const Json& call, const Pointer& path, std::vector<CallChange>& changes) {
  const auto& data = call.at(path).at("data");
  for (std::size_t i = 0; i < data.size() && data.size() <= kMostSingles; ++i) {
    if (!data[i].is_number_float() || is_simple(data[i])) {
      continue;
    }
    for (int digits = 1; digits <= 4; ++digits) {
      const double value = rounded(data[i].get<double>(), digits);
      if (std::isfinite(value) && value != data[i].get<double>()) {
        CallChange change{call, fmt::format("element {} of {}: {}", i, text_of_place(path), value)};
        change.call.at(path)["data"][i] = value;
        changes.push_back(std::move(change));
      }
    }
  }
}

}  // namespace

std::vector<CallChange> simpler_values(const Json& call) {
  std::vector<CallChange> changes;
  for (const auto& path : tensors_of_call(call)) {
    const auto& tensor = call.at(path);
    if (!tensor.contains("data")) {
      if (tensor.value("constant", false)) {
        CallChange change{call, text_of_place(path) + " of ones"};
        change.call.at(path)["data"] =
            std::vector<int>(static_cast<std::size_t>(elements_of(tensor)), 1);
        changes.push_back(std::move(change));
      }
      continue;
    }
    for (const auto& group : groups_of(odd_places(tensor.at("data")))) {
      changes.push_back(put(call, path, group, 0));
      changes.push_back(put(call, path, group, 1));
    }
    add_digits(call, path, changes);
  }
  return changes;
}

}  // namespace assay
