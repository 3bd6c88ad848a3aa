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

/// Below this, outputs that should be zero differ by rounding.
constexpr double kNoise = 1e-6;

constexpr const char* kOutputRms = "/model/health/output_rms";

/// Null if a step of the path is missing.
Json value_at(const Json& document, const char* path) {
  const Json::json_pointer pointer(path);
  return document.contains(pointer) ? document.at(pointer) : Json();
}

bool differ(const Json& first, const Json& second, const char* path) {
  const auto one = value_at(first, path);
  const auto other = value_at(second, path);
  return one.is_string() && other.is_string() && one != other;
}

/// 0 of what is no number.
double size_at(const Json& document, const char* path) {
  const auto value = value_at(document, path);
  return value.is_number() ? std::abs(value.get<double>()) : 0;
}

bool is_another_figure(const Json& first, const Json& second, const char* path) {
  if (!value_at(first, path).is_number() || !value_at(second, path).is_number()) {
    return false;
  }
  // A difference of outputs is as exact as these are.
  double size = 0;
  for (const auto* of_size : {path, kOutputRms}) {
    size = std::max({size, size_at(first, of_size), size_at(second, of_size)});
  }
  const auto difference = std::abs(size_at(first, path) - size_at(second, path));
  return difference > std::max(kSameFigure * size, kNoise);
}

/// Constants of a model are in no state: what its outputs amount to tells.
bool has_other_outputs(const Json& manifest, const Json& reference) {
  constexpr const char* kFigures[] = {kOutputRms, "/model/health/output_abs_max",
                                      "/model/health/difference_rms"};
  return std::ranges::any_of(
      kFigures, [&](const char* path) { return is_another_figure(manifest, reference, path); });
}

/// Names of the steps that initialized the weights from data, in order; "" where nothing is said.
std::string initialization_of(const Json& document) {
  const auto steps = value_at(document, "/model/health/steps");
  if (!steps.is_array()) {
    return "";
  }
  std::string names;
  for (const auto& step : steps) {
    const auto name = value_at(step, "/step");
    names += (names.empty() ? "" : ", ") + (name.is_string() ? name.get<std::string>() : "");
  }
  return names.empty() ? "none" : names;
}

std::string text_of_callable(const char* whose, const char* what) {
  return std::string(whose) + " gives other " + what +
         " at each call, so the program and the reference were not made from the same: seed it, so "
         "that each call gives the same";
}

/// The kernels that drew the random numbers of who made it; "" where it does not say.
std::string draws_of(const Json& document) {
  for (const auto* path : {"/toolchain/draws", "/producer/draws"}) {
    if (const auto draws = value_at(document, path); draws.is_string()) {
      return draws.get<std::string>();
    }
  }
  return "";
}

/// Blames the processors where they draw other numbers, though what draws was seeded.
std::string text_of_others(const char* whose, const char* what, const Json& made,
                           const Json& reference) {
  const auto one = draws_of(made);
  const auto other = draws_of(reference);
  if (one.empty() || other.empty() || one == other) {
    return text_of_callable(whose, what);
  }
  return "the program and the reference were not made from the same " + std::string(what) +
         ", as random numbers of PyTorch differ between the processors that made them (" + one +
         " and " + other + "): make both on one machine, or read the " + what + " from a file";
}

}  // namespace

std::optional<std::string> why_not_comparable(const Json& manifest, const Json& reference,
                                              const Json& fed) {
  if (differ(manifest, reference, "/model/weights_sha256")) {
    return text_of_others("the model's factory", "weights", manifest, reference);
  }
  const auto initialization = initialization_of(manifest);
  const auto other = initialization_of(reference);
  if (!initialization.empty() && !other.empty() && initialization != other) {
    return "the weights were initialized from data by other steps in the program (" +
           initialization + ") than in the reference (" + other +
           "), as processors that round differently may decide: make both on one machine, or set "
           "weight_init to false";
  }
  if (has_other_outputs(manifest, reference)) {
    return text_of_callable("the model's factory", "constants or operators");
  }
  if (differ(fed, reference, "/inputs_sha256")) {
    return text_of_others("the inputs' callable", "inputs", fed, reference);
  }
  if (differ(manifest, reference, "/calibration/samples_sha256")) {
    return text_of_others("the calibration's callable", "samples", manifest, reference);
  }
  return std::nullopt;
}

}  // namespace assay
