#include "features/reduce/call_arguments.h"

#include "features/reduce/call_tensors.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "assay/base/json.h"

namespace assay {
namespace {

using Pointer = Json::json_pointer;

void add(const Json& call, const Pointer& path, Json value, std::vector<CallChange>& changes) {
  if (call.at(path) == value) {
    return;
  }
  CallChange change{call, fmt::format("{}: {} becomes {}", text_of_place(path),
                                      call.at(path).dump(), value.dump())};
  change.call.at(path) = std::move(value);
  changes.push_back(std::move(change));
}

void add_numbers(const Json& call, const Pointer& path, std::vector<CallChange>& changes) {
  const auto& value = call.at(path);
  if (value.is_boolean()) {
    add(call, path, false, changes);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    const auto size = std::abs(static_cast<double>(number));
    for (const std::int64_t smaller : {std::int64_t{0}, std::int64_t{1}, number / 2}) {
      if (std::abs(static_cast<double>(smaller)) < size) {
        add(call, path, smaller, changes);
      }
    }
  } else if (value.is_number_float() || (value.is_object() && value.contains("number"))) {
    add(call, path, 0, changes);
    add(call, path, 1, changes);
  }
}

/// Adds the simplifications of one argument and of its parts.
void add_simpler(const Json& call, const Pointer& path, std::vector<CallChange>& changes) {
  const auto& value = call.at(path);
  if (value.is_array() && !value.empty()) {
    auto shorter = value;
    shorter.erase(value.size() - 1);
    add(call, path, std::move(shorter), changes);
    for (std::size_t i = 0; i < value.size(); ++i) {
      add_simpler(call, path / i, changes);
    }
    return;
  }
  add_numbers(call, path, changes);
}

}  // namespace

std::vector<CallChange> fewer_arguments(const Json& call) {
  std::vector<CallChange> changes;
  const auto args = call.value("args", Json::array());
  const auto kwargs = call.value("kwargs", Json::object());
  if (args.size() > 1) {
    CallChange change{call, fmt::format("without args/{}", args.size() - 1)};
    change.call["args"].erase(args.size() - 1);
    changes.push_back(std::move(change));
  }
  for (const auto& [key, value] : kwargs.items()) {
    CallChange change{call, "without kwargs/" + key};
    change.call["kwargs"].erase(key);
    changes.push_back(std::move(change));
  }
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (!args[i].is_null() && !args[i].is_boolean()) {
      add(call, Pointer("/args") / i, nullptr, changes);
    }
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    add_simpler(call, Pointer("/args") / i, changes);
  }
  for (const auto& [key, value] : kwargs.items()) {
    add_simpler(call, Pointer("/kwargs") / key, changes);
  }
  return changes;
}

}  // namespace assay
