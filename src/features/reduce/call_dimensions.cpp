#include "features/reduce/call_dimensions.h"

#include "features/reduce/call_tensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"

namespace assay {
namespace {

Json closed(const Json& call, const std::string& name) {
  auto changed = call;
  changed["dimensions"].erase(name);
  for (const auto& path : tensors_of_call(call)) {
    auto& tensor = changed.at(path);
    if (!tensor.contains("open")) {
      continue;
    }
    auto& open = tensor["open"];
    std::ranges::replace(open, Json(name), Json());
    if (std::ranges::all_of(open, [](const Json& one) { return one.is_null(); })) {
      tensor.erase("open");
    }
  }
  if (changed["dimensions"].empty()) {
    changed.erase("dimensions");
  }
  return changed;
}

/// The largest size that a tensor is written with where it leaves this one open.
std::int64_t written_size(const Json& call, const std::string& name) {
  std::int64_t size = 0;
  for (const auto& path : tensors_of_call(call)) {
    const auto& tensor = call.at(path);
    const auto open = tensor.value("open", Json::array());
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i] == name) {
        size = std::max(size, tensor.at("shape")[i].get<std::int64_t>());
      }
    }
  }
  return size;
}

void add_nearer_bound(const Json& call, const std::string& name, std::vector<CallChange>& changes) {
  const auto& bounds = call.at("dimensions").at(name);
  const auto least = bounds.at(0).get<std::int64_t>();
  const auto most = bounds.at(1).get<std::int64_t>();
  const auto nearer = std::max(written_size(call, name), least + ((most - least) / 2));
  if (nearer < most && nearer > least) {
    CallChange change{call, fmt::format("size {} up to {}", name, nearer)};
    change.call["dimensions"][name][1] = nearer;
    changes.push_back(std::move(change));
  }
}

}  // namespace

std::vector<CallChange> fewer_open_sizes(const Json& call) {
  std::vector<CallChange> changes;
  const auto dimensions = call.value("dimensions", Json::object());
  if (dimensions.size() > 1) {
    CallChange all{call, "no size left open"};
    for (const auto& [name, bounds] : dimensions.items()) {
      all.call = closed(all.call, name);
    }
    changes.push_back(std::move(all));
  }
  for (const auto& [name, bounds] : dimensions.items()) {
    changes.push_back({closed(call, name), fmt::format("size {} not left open", name)});
    add_nearer_bound(call, name, changes);
  }
  return changes;
}

}  // namespace assay
