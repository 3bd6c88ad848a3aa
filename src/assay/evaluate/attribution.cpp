#include "assay/evaluate/attribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/evaluate/output_types.h"
#include "assay/evaluate/output_values.h"
#include "assay/record/attribution.h"
#include "assay/tensor/difference.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using Samples = std::span<const std::vector<Tensor>>;
using Part = std::optional<double> NoiseParts::*;

constexpr std::size_t kNamed = 3;

/// Layers are compared across precisions, and never integers with floating numbers.
const TypeRules kAnyWidth{.is_any_width = true};

/// Noise of output `index`; absent without a reference, and for results that are no numbers.
Result<std::optional<double>> noise_of(Samples results, Samples references, std::size_t index) {
  if (results.empty() || references.empty()) {
    return std::nullopt;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto values, gather_output(results, references, index, nullptr));
  const auto relative = difference_between(values.result, values.reference, {}).relative_l2;
  return std::isfinite(relative) ? std::optional(relative * relative) : std::nullopt;
}

Result<NoiseParts> parts_of(const LayerOutputs& outputs, std::size_t index) {
  NoiseParts parts;
  const auto& exact = outputs.quantized.empty() ? outputs.floating : outputs.quantized;
  ASSAY_ASSIGN_OR_RETURN(parts.quantization, noise_of(outputs.quantized, outputs.floating, index));
  ASSAY_ASSIGN_OR_RETURN(parts.backend, noise_of(outputs.results, exact, index));
  ASSAY_ASSIGN_OR_RETURN(parts.total, noise_of(outputs.results, outputs.floating, index));
  return parts;
}

Status check_form(const LayerOutputs& outputs, bool has_own) {
  for (const auto& references : {outputs.quantized, outputs.floating}) {
    if (references.empty()) {
      continue;
    }
    const OutputRange all{.begin = 0, .end = references.front().size()};
    auto difference = find_shape_difference(outputs.results, references, all);
    if (!difference) {
      difference = find_type_difference(outputs.results, references, all, kAnyWidth, {});
    }
    if (difference) {
      return fail(ErrorCode::kInvalidArgument, *std::move(difference));
    }
  }
  const auto count = outputs.results.empty() ? 0 : outputs.results.front().size();
  if (has_own ? count <= outputs.layers.size() : count != outputs.layers.size()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} layers are to be looked at, the program has {} outputs in all",
                            outputs.layers.size(), count));
  }
  return {};
}

void keep_larger(std::optional<double>& known, const std::optional<double>& value) {
  if (value && (!known || *value > *known)) {
    known = value;
  }
}

constexpr std::array<Part, 3> kParts = {&NoiseParts::quantization, &NoiseParts::backend,
                                        &NoiseParts::total};

void add_parts(const std::map<std::string, const LayerNoise*>& known, LayerNoise& layer) {
  for (const auto part : kParts) {
    const auto& noise = layer.noise.*part;
    if (!noise) {
      continue;
    }
    double before = 0;
    for (const auto& name : layer.origin.inputs) {
      if (const auto found = known.find(name); found != known.end()) {
        before = std::max(before, (found->second->noise.*part).value_or(0));
      }
    }
    layer.added.*part = std::max(0.0, *noise - before);
  }
}

using Measure = NoiseParts LayerNoise::*;

const std::string& title_of(const LayerOrigin& origin) {
  return origin.module.empty() ? origin.name : origin.module;
}

struct Ranked {
  double noise = 0;
  std::size_t place = 0;
  std::string name;
};

/// The layers that have any noise of that kind, largest first, then in order.
std::vector<Ranked> rank(const std::vector<LayerNoise>& layers, Measure measure, Part part) {
  std::vector<Ranked> ranked;
  for (const auto& layer : layers) {
    const auto noise = (layer.*measure.*part).value_or(0);
    if (noise > 0) {
      ranked.push_back({noise, ranked.size(), title_of(layer.origin)});
    }
  }
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) {
    return a.noise != b.noise ? a.noise > b.noise : a.place < b.place;
  });
  return ranked;
}

/// The layers that add most, with their share of all that is added: "conv (41 %), …".
std::string most_of(const std::vector<LayerNoise>& layers, Part part) {
  const auto ranked = rank(layers, &LayerNoise::added, part);
  double sum = 0;
  for (const auto& layer : ranked) {
    sum += layer.noise;
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kNamed, ranked.size()); ++i) {
    texts.push_back(fmt::format("{} ({:.0f} %)", ranked[i].name, 100 * ranked[i].noise / sum));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The layers that are furthest off by themselves: "conv (41.0 dB), …".
std::string worst_of(const std::vector<LayerNoise>& layers, Part part) {
  const auto ranked = rank(layers, &LayerNoise::alone, part);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kNamed, ranked.size()); ++i) {
    texts.push_back(
        fmt::format("{} ({:.1f} dB)", ranked[i].name, sqnr_db_from_noise(ranked[i].noise)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Why a noise is no number, and no ranking has it: the layer gives NaN or infinity where its
/// reference has a number, or the other way round; or the reference is dead, all zeros.
enum class WhyNone : std::uint8_t { kOtherSpecials, kDeadReference };

Result<WhyNone> why_none(Samples results, Samples references, std::size_t index) {
  ASSAY_ASSIGN_OR_RETURN(const auto values, gather_output(results, references, index, nullptr));
  return difference_between(values.result, values.reference, {}).mismatched_non_finite > 0
             ? WhyNone::kOtherSpecials
             : WhyNone::kDeadReference;
}

/// The first layer of each kind that has no noise, in a sentence.
Status note_without_noise(const Attribution& found, const LayerOutputs& outputs, Part part,
                          std::string_view who, std::vector<std::string>& notes) {
  const bool is_quantization = part == &NoiseParts::quantization;
  const auto& exact = outputs.quantized.empty() ? outputs.floating : outputs.quantized;
  const auto own = outputs.results.front().size() - outputs.layers.size();
  if (exact.empty()) {
    return {};
  }
  std::set<WhyNone> told;
  for (std::size_t i = 0; i < found.layers.size(); ++i) {
    if (found.layers[i].noise.*part) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto why,
                           is_quantization ? why_none(outputs.quantized, outputs.floating, own + i)
                                           : why_none(outputs.results, exact, own + i));
    if (told.insert(why).second) {
      notes.push_back(fmt::format(
          "with {}, {} is the first whose {}: the shares below leave it out", who,
          title_of(found.layers[i].origin),
          why == WhyNone::kOtherSpecials ? "NaN and infinities are not those of the reference"
                                         : "reference is all zeros, and it is not"));
    }
  }
  return {};
}

/// "41.0 dB", "∞ dB" where there is no noise.
std::string text_of_db(double noise) {
  return noise > 0 ? fmt::format("{:.1f} dB", sqnr_db_from_noise(noise)) : "∞ dB";
}

Result<std::vector<std::string>> notes_of(const Attribution& found, const LayerOutputs& outputs) {
  std::vector<std::string> notes;
  if (!outputs.quantized.empty() && !outputs.floating.empty()) {
    ASSAY_RETURN_IF_ERROR(
        note_without_noise(found, outputs, &NoiseParts::quantization, "quantization", notes));
  }
  ASSAY_RETURN_IF_ERROR(
      note_without_noise(found, outputs, &NoiseParts::backend, "the backend", notes));
  const auto& [quantization, backend, total] = found.whole;
  if (quantization && backend) {
    const bool is_backend = *backend > *quantization;
    notes.push_back(fmt::format("the larger part of the error is {}: {}, {} {}",
                                is_backend ? "the backend's" : "quantization's",
                                text_of_db(is_backend ? *backend : *quantization),
                                is_backend ? "quantization's is" : "the backend's is",
                                text_of_db(is_backend ? *quantization : *backend)));
  }
  if (const auto most = most_of(found.layers, &NoiseParts::quantization); !most.empty()) {
    notes.push_back("quantization adds most of the error in " + most);
  }
  if (const auto most = most_of(found.layers, &NoiseParts::backend); !most.empty()) {
    notes.push_back("the backend adds most of the error in " + most);
  }
  return notes;
}

}  // namespace

Result<Attribution> attribute_error(const LayerOutputs& outputs) {
  ASSAY_RETURN_IF_ERROR(check_form(outputs, /*has_own=*/true));
  Attribution found;
  const auto own = outputs.results.front().size() - outputs.layers.size();
  for (std::size_t i = 0; i < own; ++i) {
    ASSAY_ASSIGN_OR_RETURN(const auto parts, parts_of(outputs, i));
    for (const auto part : kParts) {
      keep_larger(found.whole.*part, parts.*part);
    }
  }
  found.layers.reserve(outputs.layers.size());
  std::map<std::string, const LayerNoise*> known;
  for (std::size_t i = 0; i < outputs.layers.size(); ++i) {
    auto& layer = found.layers.emplace_back(LayerNoise{.origin = outputs.layers[i]});
    ASSAY_ASSIGN_OR_RETURN(layer.noise, parts_of(outputs, own + i));
    add_parts(known, layer);
    known[layer.origin.name] = &layer;
  }
  ASSAY_ASSIGN_OR_RETURN(found.notes, notes_of(found, outputs));
  return found;
}

Status judge_alone(const LayerOutputs& outputs, Attribution& found) {
  ASSAY_RETURN_IF_ERROR(check_form(outputs, /*has_own=*/false));
  for (std::size_t i = 0; i < outputs.layers.size(); ++i) {
    const auto layer = std::ranges::find(found.layers, outputs.layers[i].name,
                                         [](const LayerNoise& known) { return known.origin.name; });
    if (layer != found.layers.end()) {
      ASSAY_ASSIGN_OR_RETURN(layer->alone, parts_of(outputs, i));
    }
  }
  if (const auto worst = worst_of(found.layers, &NoiseParts::quantization); !worst.empty()) {
    found.notes.push_back("on exact inputs, the quantization error is largest in " + worst);
  }
  if (const auto worst = worst_of(found.layers, &NoiseParts::backend); !worst.empty()) {
    found.notes.push_back("on exact inputs, the backend error is largest in " + worst);
  }
  return {};
}

void note_first_beyond(double least_db, Attribution& found) {
  for (const auto& layer : found.layers) {
    const auto& noise = layer.noise.backend;
    if (!noise || sqnr_db_from_noise(*noise) < least_db) {
      found.notes.push_back(fmt::format(
          "the backend first leaves its tolerance (sqnr_db >= {:g}) in {}: {}", least_db,
          title_of(layer.origin),
          noise ? fmt::format("{:.1f} dB", sqnr_db_from_noise(*noise)) : "no finite noise"));
      return;
    }
  }
}

}  // namespace assay
