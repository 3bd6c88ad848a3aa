#include "features/reduce/call_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using Pointer = Json::json_pointer;

constexpr double kExactIntegers =
    9007199254740992.0;  ///< 2^53: integers up to it are exact as doubles.

void collect(const Json& value, const Pointer& path, std::vector<Pointer>& found) {
  if (is_tensor(value)) {
    found.push_back(path);
    return;
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      collect(value[i], path / i, found);
    }
  } else if (value.is_object()) {
    for (const auto& [key, one] : value.items()) {
      collect(one, path / key, found);
    }
  }
}

/// An element as calls write it; the shortest text that gives the same float again.
Json number_of(double value, Dtype dtype) {
  if (!std::isfinite(value)) {
    return {{"number", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
  }
  if (!is_floating(dtype)) {
    return static_cast<std::int64_t>(value);
  }
  const bool is_short = dtype != Dtype::kFloat64;
  const auto text =
      is_short ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  return std::strtod(text.c_str(), nullptr);  // std::stod throws at denormal numbers.
}

/// Parts of an extent that may stand for it: halves, a single place, all but one.
std::vector<std::pair<std::int64_t, std::int64_t>> parts_of(std::int64_t extent) {
  const auto half = extent / 2;
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  for (const auto& part : {std::pair<std::int64_t, std::int64_t>{0, 1},
                           {extent - 1, extent},
                           {0, half},
                           {half, extent},
                           {0, 2},
                           {0, extent - 1},
                           {1, extent}}) {
    const auto size = part.second - part.first;
    if (size > 0 && size < extent && std::ranges::find(parts, part) == parts.end()) {
      parts.push_back(part);
    }
  }
  return parts;
}

/// Cuts every dimension of this extent, in each tensor.
Json cut_everywhere(const Json& call, std::int64_t extent, std::int64_t begin, std::int64_t end) {
  auto changed = call;
  for (const auto& path : tensors_of_call(call)) {
    auto& tensor = changed.at(path);
    for (std::size_t i = 0; i < tensor.at("shape").size(); ++i) {
      if (tensor["shape"][i] == extent) {
        tensor = sliced(tensor, i, begin, end);
      }
    }
  }
  return changed;
}

/// Puts `by` for each integer `number` that is no tensor's.
void replace_numbers(Json& value, std::int64_t number, std::int64_t by) {
  if (is_tensor(value)) {
    return;
  }
  if (value.is_number_integer() && value == number) {
    value = by;
  }
  if (value.is_structured()) {
    for (auto& one : value) {
      replace_numbers(one, number, by);
    }
  }
}

std::set<std::int64_t, std::greater<>> extents_of(const Json& call) {
  std::set<std::int64_t, std::greater<>> extents;
  for (const auto& path : tensors_of_call(call)) {
    for (const auto& size : call.at(path).at("shape")) {
      if (size > 1) {
        extents.insert(size.get<std::int64_t>());
      }
    }
  }
  return extents;
}

void add_extents(const Json& call, std::vector<CallChange>& changes) {
  for (const auto extent : extents_of(call)) {
    for (const auto& [begin, end] : parts_of(extent)) {
      const auto what = fmt::format("every extent {}: {} (from {})", extent, end - begin, begin);
      auto changed = cut_everywhere(call, extent, begin, end);
      auto with_numbers = changed;
      replace_numbers(with_numbers["args"], extent, end - begin);
      replace_numbers(with_numbers["kwargs"], extent, end - begin);
      const bool is_other = with_numbers != changed;
      changes.push_back({std::move(changed), what});
      if (is_other) {
        changes.push_back({std::move(with_numbers), what + ", and numbers alike"});
      }
    }
  }
}

void add_dimensions(const Json& call, std::vector<CallChange>& changes) {
  for (const auto& path : tensors_of_call(call)) {
    const auto& tensor = call.at(path);
    for (std::size_t i = 0; i < tensor.at("shape").size(); ++i) {
      const auto extent = tensor.at("shape")[i].get<std::int64_t>();
      for (const auto& [begin, end] : parts_of(extent)) {
        auto changed = call;
        changed.at(path) = sliced(tensor, i, begin, end);
        changes.push_back(
            {std::move(changed), fmt::format("{} dimension {}: {} to {} (from {})",
                                             text_of_place(path), i, extent, end - begin, begin)});
      }
    }
  }
}

/// Drops a dimension of size one, the first or the last there is.
bool drop_one(Json& tensor, bool is_first) {
  auto& shape = tensor.at("shape");
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const auto i = is_first ? k : shape.size() - 1 - k;
    if (shape[i] == 1) {
      shape.erase(i);
      if (tensor.contains("open")) {
        tensor["open"].erase(i);
      }
      return true;
    }
  }
  return false;
}

void add_ranks(const Json& call, std::vector<CallChange>& changes) {
  for (const bool is_first : {true, false}) {
    auto all = call;
    bool is_changed = false;
    for (const auto& path : tensors_of_call(call)) {
      is_changed |= drop_one(all.at(path), is_first);
      auto alone = call;
      if (drop_one(alone.at(path), is_first)) {
        changes.push_back({std::move(alone), text_of_place(path) + " without a size of one"});
      }
    }
    if (is_changed) {
      changes.push_back({std::move(all), "no tensor with a size of one that it had"});
    }
  }
}

/// {"torch": "float16"} becomes {"torch": "float32"} where that was the type.
void rename_constants(Json& value, const std::string& from) {
  if (value.is_object() && value.value("torch", Json()) == from) {
    value["torch"] = "float32";
  } else if (value.is_structured() && !is_tensor(value)) {
    for (auto& one : value) {
      rename_constants(one, from);
    }
  }
}

void add_dtypes(const Json& call, std::vector<CallChange>& changes) {
  std::set<std::string> dtypes;
  for (const auto& path : tensors_of_call(call)) {
    dtypes.insert(call.at(path).at("dtype").get<std::string>());
  }
  dtypes.erase("float32");
  for (const auto& dtype : dtypes) {
    auto changed = call;
    for (const auto& path : tensors_of_call(call)) {
      if (call.at(path).at("dtype") == dtype) {
        changed.at(path)["dtype"] = "float32";
      }
    }
    rename_constants(changed["args"], dtype);
    rename_constants(changed["kwargs"], dtype);
    changes.push_back({std::move(changed), dtype + " becomes float32"});
  }
}

}  // namespace

bool is_tensor(const Json& value) { return value.is_object() && value.contains("shape"); }

std::int64_t elements_of(const Json& tensor) {
  return count_elements(tensor.at("shape").get<Shape>());
}

std::vector<Pointer> tensors_of_call(const Json& call) {
  std::vector<Pointer> found;
  for (const auto* key : {"args", "kwargs"}) {
    if (call.contains(key)) {
      collect(call.at(key), Pointer() / key, found);
    }
  }
  return found;
}

std::string text_of_place(const Pointer& path) { return path.to_string().substr(1); }

std::vector<CallChange> with_data(const Json& call, const std::vector<Tensor>& sample) {
  auto changed = call;
  std::size_t taken = 0;
  for (const auto& path : tensors_of_call(call)) {
    const auto& tensor = call.at(path);
    if (tensor.value("constant", false)) {
      continue;
    }
    if (taken >= sample.size() || sample[taken].shape != tensor.at("shape").get<Shape>()) {
      return {};
    }
    const auto& drawn = sample[taken++];
    // A quantization's cast changes the type of what is drawn; the model's own counts.
    const auto dtype = find_enum<Dtype>(tensor.at("dtype").get<std::string>());
    Json data = Json::array();
    for (const double value : doubles_from_tensor(drawn.view())) {
      if (!dtype ||
          (std::isfinite(value) && !is_floating(*dtype) && std::abs(value) >= kExactIntegers)) {
        return {};
      }
      data.push_back(number_of(value, *dtype));
    }
    Json exact = {{"shape", tensor.at("shape")}, {"dtype", tensor.at("dtype")}, {"data", data}};
    if (tensor.contains("layout")) {
      exact["layout"] = tensor["layout"];
    }
    changed.at(path) = std::move(exact);
  }
  changed["values"] = "normal";
  changed.erase("dimensions");  // A tensor that is written out has one size.
  return {{std::move(changed), ""}};
}

Json sliced(const Json& tensor, std::size_t dimension, std::int64_t begin, std::int64_t end) {
  auto changed = tensor;
  changed["shape"][dimension] = end - begin;
  const auto data = tensor.find("data");
  if (data == tensor.end()) {
    return changed;
  }
  const auto shape = tensor.at("shape").get<Shape>();
  std::int64_t inner = 1;
  for (auto i = dimension + 1; i < shape.size(); ++i) {
    inner *= shape[i];
  }
  changed["data"] = Json::array();
  for (std::size_t i = 0; i < data->size(); ++i) {
    const auto place = static_cast<std::int64_t>(i) / inner % shape[dimension];
    if (place >= begin && place < end) {
      changed["data"].push_back((*data)[i]);
    }
  }
  return changed;
}

std::vector<CallChange> smaller_shapes(const Json& call) {
  std::vector<CallChange> changes;
  add_extents(call, changes);
  add_dimensions(call, changes);
  add_ranks(call, changes);
  return changes;
}

std::vector<CallChange> plainer_tensors(const Json& call) {
  std::vector<CallChange> changes;
  if (call.value("values", "normal") != "normal") {
    changes.push_back({call, "no special values"});
    changes.back().call["values"] = "normal";
  }
  add_dtypes(call, changes);
  for (const auto& path : tensors_of_call(call)) {
    for (const auto* key : {"layout", "order", "along", "constant"}) {
      if (call.at(path).contains(key)) {
        changes.push_back({call, fmt::format("{} without {}", text_of_place(path), key)});
        changes.back().call.at(path).erase(key);
      }
    }
    if (call.at(path).contains("low") || call.at(path).contains("high")) {
      changes.push_back({call, text_of_place(path) + " of any value"});
      changes.back().call.at(path).erase("low");
      changes.back().call.at(path).erase("high");
    }
  }
  return changes;
}

}  // namespace assay
