#include "assay/evaluate/comparability.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "assay/base/json.h"

namespace assay {
namespace {

/// Outputs of one model differ by less than this between processors; those of another differ by
/// more, or it is not worth telling.
constexpr double kSameFigure = 1e-3;

/// Null where a step of the path is missing.
Json value_at(const Json& document, const char* path) {
  const Json::json_pointer pointer(path);
  return document.contains(pointer) ? document.at(pointer) : Json();
}

bool differ(const Json& first, const Json& second, const char* path) {
  const auto one = value_at(first, path);
  const auto other = value_at(second, path);
  return one.is_string() && other.is_string() && one != other;
}

bool is_another_figure(const Json& first, const Json& second, const char* path) {
  const auto one = value_at(first, path);
  const auto other = value_at(second, path);
  if (!one.is_number() || !other.is_number()) {
    return false;
  }
  const auto a = one.get<double>();
  const auto b = other.get<double>();
  return std::abs(a - b) > kSameFigure * std::max(std::abs(a), std::abs(b));
}

/// Constants of a model are in no state: what its outputs amount to tells.
bool has_other_outputs(const Json& manifest, const Json& reference) {
  constexpr const char* kFigures[] = {"/model/health/output_rms", "/model/health/output_abs_max",
                                      "/model/health/difference_rms"};
  return std::ranges::any_of(
      kFigures, [&](const char* path) { return is_another_figure(manifest, reference, path); });
}

std::string text_of_callable(const char* whose, const char* what) {
  return std::string(whose) + " gives other " + what +
         " at each call, so the program and the reference were not made from the same: seed it, so "
         "that each call gives the same";
}

}  // namespace

std::optional<std::string> why_not_comparable(const Json& manifest, const Json& reference,
                                              const Json& fed) {
  if (differ(manifest, reference, "/model/weights_sha256")) {
    return text_of_callable("the model's factory", "weights");
  }
  if (has_other_outputs(manifest, reference)) {
    return text_of_callable("the model's factory", "constants or operators");
  }
  if (differ(fed, reference, "/inputs_sha256")) {
    return text_of_callable("the inputs' callable", "inputs");
  }
  if (differ(manifest, reference, "/calibration/samples_sha256")) {
    return text_of_callable("the calibration's callable", "samples");
  }
  return std::nullopt;
}

}  // namespace assay
