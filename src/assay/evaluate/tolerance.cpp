#include "assay/evaluate/tolerance.h"

#include <algorithm>
#include <expected>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/record/case.h"
#include "assay/record/metric.h"
#include "assay/spec/reference_kind.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

/// The part that holds for every "engine:NAME".
constexpr std::string_view kEngineKey = "engine";
constexpr std::string_view kIntegerKey = "integer";
constexpr std::string_view kSeparationKey = "separation_db";
constexpr std::string_view kNondeterminismKey = "allow_nondeterminism";
constexpr std::string_view kComputesInKey = "computes_in";
constexpr std::string_view kConstantKey = "constant_outputs";
constexpr std::string_view kWhyKey = "why";

bool is_kind(std::string_view key) {
  const auto& named = named_reference_kinds();
  return key == kEngineKey || std::ranges::find(named, key) != named.end();
}

/// The key under which a document has what holds for a kind.
std::string_view part_of_kind(std::string_view kind) {
  return engine_of_kind(kind) ? kEngineKey : kind;
}

const MetricDefinition* find_output_metric(std::string_view name) {
  const auto* definition = find_metric(name);
  const bool is_usable =
      definition != nullptr && definition->level == "output" && definition->better != Better::kNone;
  return is_usable ? definition : nullptr;
}

bool is_minimum(std::string_view metric) {
  const auto* definition = find_metric(metric);
  return definition != nullptr && definition->better == Better::kHigher;
}

std::vector<std::string> known_keys() {
  std::vector<std::string> keys;
  for (const auto& definition : metric_definitions()) {
    if (find_output_metric(definition.name) != nullptr) {
      keys.emplace_back(definition.name);
    }
  }
  for (const auto key :
       {kSeparationKey, kNondeterminismKey, kComputesInKey, kConstantKey, kWhyKey, kIntegerKey}) {
    keys.emplace_back(key);
  }
  keys.emplace_back(kEngineKey);
  keys.insert(keys.end(), named_reference_kinds().begin(), named_reference_kinds().end());
  return keys;
}

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorCode::kInvalidArgument, "tolerance: " + std::move(message));
}

/// Names and places of outputs.
Status read_constant_outputs(const Json& value, Tolerance& tolerance) {
  const auto is_output = [](const Json& one) {
    return one.is_string() || (one.is_number_integer() && one >= 0);
  };
  if (!value.is_array() || !std::ranges::all_of(value, is_output)) {
    return refuse(fmt::format("\"{}\" must be a list of outputs by name or place, such as [1]",
                              kConstantKey));
  }
  for (const auto& one : value) {
    tolerance.constant_outputs.push_back(unquoted_text(one));
  }
  return {};
}

Status read_key(std::string_view key, const Json& value, Tolerance& tolerance) {
  if (key == kWhyKey) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      return refuse("\"why\" must be a sentence: the reason for these numbers");
    }
    tolerance.why = value.get<std::string>();
    return {};
  }
  if (key == kNondeterminismKey) {
    if (!value.is_boolean()) {
      return refuse(fmt::format("\"{}\" must be true or false", key));
    }
    tolerance.allows_nondeterminism = value.get<bool>();
    return {};
  }
  if (key == kComputesInKey) {
    if (value != "float16" && value != "bfloat16") {
      return refuse(fmt::format("\"{}\" must be \"float16\" or \"bfloat16\"", key));
    }
    tolerance.computes_in = value == "float16" ? Dtype::kFloat16 : Dtype::kBFloat16;
    return {};
  }
  if (key == kConstantKey) {
    return read_constant_outputs(value, tolerance);
  }
  const bool is_metric = find_output_metric(key) != nullptr;
  if (!is_metric && key != kSeparationKey) {
    return refuse(fmt::format("unknown key '{}'{}", key, suggestion_for(key, known_keys())));
  }
  if (!value.is_number()) {
    return refuse(
        fmt::format("\"{}\" must be a number, such as {}", key, is_minimum(key) ? "30" : "0.001"));
  }
  if (is_metric) {
    tolerance.bounds[std::string(key)] = value.get<double>();
  } else {
    tolerance.separation_db = value.get<double>();
  }
  return {};
}

bool is_part(std::string_view key) { return is_kind(key) || key == kIntegerKey; }

/// One document without its parts. `outer_why`: the reason of the document around it, if any.
Result<Tolerance> read_flat(const Json& document, const std::string& outer_why) {
  if (!document.is_object()) {
    return refuse("must be an object such as {\"sqnr_db\": 20, \"why\": \"int8 activations\"}");
  }
  Tolerance tolerance{.why = outer_why};
  for (const auto& [key, value] : document.items()) {
    if (is_part(key) && value.is_object()) {
      continue;
    }
    if (is_part(key)) {
      return refuse(fmt::format("\"{}\" must be an object of bounds", key));
    }
    ASSAY_RETURN_IF_ERROR(read_key(key, value, tolerance));
  }
  const bool has_numbers = !tolerance.bounds.empty() || tolerance.separation_db ||
                           tolerance.computes_in || !tolerance.constant_outputs.empty();
  if (has_numbers && tolerance.why.empty()) {
    return refuse("\"why\" is missing: say in a sentence where this comes from");
  }
  return tolerance;
}

/// A document and the parts of it that hold for one kind or for integers.
struct Parsed {
  Tolerance flat;
  std::map<std::string, Tolerance, std::less<>> nested;
};

Result<Parsed> parse_document(const Json& document) {
  Parsed parsed;
  ASSAY_ASSIGN_OR_RETURN(parsed.flat, read_flat(document, {}));
  for (const auto& [key, value] : document.items()) {
    if (!is_part(key)) {
      continue;
    }
    if (std::ranges::any_of(value.items(), [](const auto& item) { return is_part(item.key()); })) {
      return refuse(fmt::format("\"{}\" contains another part; write both at the same level", key));
    }
    auto part = read_flat(value, parsed.flat.why);
    if (!part) {
      return fail_with_context(std::move(part).error(), key);
    }
    parsed.nested[key] = *std::move(part);
  }
  return parsed;
}

bool is_absent(const Json& document) { return document.is_null() || document.empty(); }

Tolerance default_float32() {
  return {.bounds = {{"relative_l2_error", 1e-4}, {"scaled_max_error", 1e-3}},
          .sensitivity_factor = kSensitivityFactor,
          .most_widening = 100,
          .why = "default for float32: rounding accumulated over a deep network, with a margin"};
}

Tolerance default_float16() {
  return {.bounds = {{"relative_l2_error", 5e-2}, {"scaled_max_error", 3e-1}},
          // Wider than bfloat16's bounds they would accept anything.
          .sensitivity_factor = kFloat16SensitivityFactor,
          .most_widening = 4,
          .why =
              "default for float16: right kernels were measured at 0.002 to 0.022 (relative L2) on "
              "whole networks"};
}

Tolerance default_bfloat16() {
  return {
      .bounds = {{"relative_l2_error", 2e-1}, {"scaled_max_error", 1}},
      .separation_db = 3,
      .why = "default for bfloat16: three bits less than float16, so up to eight times its error"};
}

Tolerance default_quantized() {
  return {.bounds = {{"sqnr_db", 8}},
          .separation_db = 3,
          .why =
              "default for quantized models: right int8 kernels were measured at 13 to 33 dB on "
              "whole networks, all zeros have 0 dB, and another sample's output must lie 3 dB "
              "lower"};
}

Tolerance default_integer() {
  return {.bounds = {{"max_abs_error", 0}}, .why = "default for integers: exact"};
}

ToleranceSet default_tolerances(const Json& quantization) {
  const auto cast = cast_of_quantization(quantization);
  ToleranceSet set{.floating = default_float32(),
                   .float16 = default_float16(),
                   .bfloat16 = default_bfloat16(),
                   .integer = default_integer()};
  if (cast) {
    set.floating = *cast == Dtype::kFloat16 ? set.float16 : set.bfloat16;
  } else if (!quantization.is_null()) {
    set.floating = set.float16 = set.bfloat16 = default_quantized();
  }
  return set;
}

/// Bounds replace all that was there; a part without bounds changes only what it names.
void lay_part_over(const Tolerance& part, Tolerance& tolerance) {
  const auto computes_in = part.computes_in ? part.computes_in : tolerance.computes_in;
  if (!part.bounds.empty()) {
    tolerance = part;
    tolerance.computes_in = computes_in;
    return;
  }
  tolerance.computes_in = computes_in;
  if (part.separation_db) {
    tolerance.separation_db = part.separation_db;
  }
  tolerance.allows_nondeterminism |= part.allows_nondeterminism;
}

void lay_over(const Parsed& parsed, std::string_view kind, ToleranceSet& set) {
  std::vector<const Tolerance*> parts = {&parsed.flat};
  if (const auto found = parsed.nested.find(part_of_kind(kind)); found != parsed.nested.end()) {
    parts.push_back(&found->second);
  }
  const auto for_integers = parsed.nested.find(kIntegerKey);
  for (auto* tolerance : {&set.floating, &set.float16, &set.bfloat16}) {
    for (const auto* part : parts) {
      lay_part_over(*part, *tolerance);
    }
  }
  if (for_integers != parsed.nested.end()) {
    lay_part_over(for_integers->second, set.integer);
  }
  for (auto* tolerance : {&set.floating, &set.float16, &set.bfloat16, &set.integer}) {
    tolerance->allows_nondeterminism |= parsed.flat.allows_nondeterminism;
  }
  for (const auto* part : parts) {
    set.constant_outputs.insert(set.constant_outputs.end(), part->constant_outputs.begin(),
                                part->constant_outputs.end());
  }
}

}  // namespace

const Tolerance& ToleranceSet::for_output(Dtype dtype, bool is_quantized) const {
  switch (dtype) {
    case Dtype::kFloat16:
      return float16;
    case Dtype::kBFloat16:
      return bfloat16;
    default:
      return is_floating(dtype) || is_quantized ? floating : integer;
  }
}

Result<ToleranceSet> tolerances_for(const Recipe& recipe, const Json& spec_tolerance,
                                    std::string_view kind) {
  auto set = default_tolerances(recipe.quantization);
  const std::pair<const Json*, std::string> documents[] = {
      {&recipe.tolerance, "recipe " + recipe.name}, {&spec_tolerance, "spec"}};
  for (const auto& [document, origin] : documents) {
    if (is_absent(*document)) {
      continue;
    }
    auto parsed = parse_document(*document);
    if (!parsed) {
      return fail_with_context(std::move(parsed).error(), origin);
    }
    lay_over(*parsed, kind, set);
  }
  return set;
}

std::vector<std::string> widen_by_sensitivity(const Sensitivity& sensitivity,
                                              Tolerance& tolerance) {
  std::vector<std::string> widened;
  for (auto& [metric, limit] : tolerance.bounds) {
    const auto found = sensitivity.find(metric);
    const double wanted =
        found == sensitivity.end() ? 0 : tolerance.sensitivity_factor * found->second;
    if (wanted > limit) {
      const double most = tolerance.most_widening * limit;
      limit = std::min(wanted, most);
      widened.push_back(fmt::format(
          "{} {:.2g}, {} ({:.2g})", metric, limit,
          wanted > most
              ? fmt::format("{:g} times its default, the most that a network "
                            "gets for what float32 itself loses",
                            tolerance.most_widening)
              : fmt::format("{:g} times what float32 itself loses", tolerance.sensitivity_factor),
          found->second));
    }
  }
  return widened;
}

std::optional<Dtype> cast_of_quantization(const Json& quantization) {
  const auto told = quantization.is_object() ? quantization.value("dtype", Json()) : quantization;
  const auto name = told.is_string() ? told.get<std::string>() : std::string();
  const auto dtype = find_enum<Dtype>(name);
  const bool is_cast = dtype == Dtype::kFloat16 || dtype == Dtype::kBFloat16;
  return is_cast ? dtype : std::nullopt;
}

Status check_tolerance(const Json& document, std::string_view origin) {
  if (is_absent(document)) {
    return {};
  }
  if (auto parsed = parse_document(document); !parsed) {
    return fail_with_context(std::move(parsed).error(), origin);
  }
  return {};
}

std::string text_of_bound(std::string_view metric, std::optional<double> value, double limit) {
  const auto sign = is_minimum(metric) ? ">=" : "<=";
  return value ? fmt::format("{} {:.4g} ({} {:g})", metric, *value, sign, limit)
               : fmt::format("{} not measured ({} {:g})", metric, sign, limit);
}

bool is_bound_held(std::string_view metric, double value, double limit) {
  return is_minimum(metric) ? value >= limit : value <= limit;
}

}  // namespace assay
