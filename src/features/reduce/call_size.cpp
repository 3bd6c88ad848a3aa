#include "features/reduce/call_size.h"

#include "features/reduce/call_tensors.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "assay/base/json.h"

namespace assay {
namespace {

constexpr double kDrawn = 30;  ///< More than any number takes to write down.

/// An extent of 0 counts as 1: what has no element becomes smaller in its other extents, too.
double extent_of(const Json& tensor) {
  double extent = 1;
  for (const auto& size : tensor.at("shape")) {
    extent *= std::max(1.0, size.get<double>());
  }
  return extent;
}

/// 0 is the simplest number, 1 the next, then the shorter the simpler.
double cost_of_value(const Json& value) {
  if (value.is_number() && (value == 0 || value == 1)) {
    return value == 0 ? 0 : 1;
  }
  return 1 + static_cast<double>(value.dump().size());
}

double cost_of_data(const Json& tensor) {
  const auto data = tensor.find("data");
  if (data == tensor.end()) {
    return kDrawn * static_cast<double>(elements_of(tensor));
  }
  double cost = 0;
  for (const auto& value : *data) {
    cost += cost_of_value(value);
  }
  return cost;
}

/// One for each thing that a plain float32 tensor has not.
double oddness_of(const Json& tensor) {
  double oddness = tensor.value("dtype", "") == "float32" ? 0 : 1;
  for (const auto* key : {"layout", "low", "high", "order", "along", "constant"}) {
    oddness += tensor.contains(key) ? 1 : 0;
  }
  return oddness;
}

/// Size of all that is no tensor: how much there is, and how long its text is.
double cost_of_arguments(const Json& value) {
  if (is_tensor(value)) {
    return 1;
  }
  if (value.is_null()) {
    return 0.5;
  }
  if (value.is_number_integer()) {
    const double number = std::abs(value.get<double>());
    return 2 + (number <= 1 ? 0.0 : std::log2(number) / 8);
  }
  if (value.is_primitive()) {
    return value == false ? 2 : 2 + static_cast<double>(value.dump().size()) / 8;
  }
  double cost = 1;
  for (const auto& one : value) {
    cost += cost_of_arguments(one);
  }
  return cost;
}

}  // namespace

std::vector<double> size_of_call(const Json& call, int samples) {
  double elements = 0;
  double dimensions = 0;
  double oddness = call.value("values", "normal") == "normal" ? 0 : 1;
  double values = 0;
  for (const auto& path : tensors_of_call(call)) {
    const auto& tensor = call.at(path);
    elements += extent_of(tensor);
    dimensions += static_cast<double>(tensor.at("shape").size());
    oddness += oddness_of(tensor);
    values += cost_of_data(tensor);
  }
  for (const auto& bounds : call.value("dimensions", Json::object())) {
    oddness += 1 + std::log2(1 + bounds.at(1).get<double>() - bounds.at(0).get<double>());
  }
  const double arguments = cost_of_arguments(call.value("args", Json::array())) +
                           cost_of_arguments(call.value("kwargs", Json::object()));
  return {elements * samples, dimensions, oddness, arguments, values};
}

}  // namespace assay
