#include "assay/report/attribution.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/text.h"
#include "assay/record/attribution.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

using Part = std::optional<double> NoiseParts::*;
using Measure = NoiseParts LayerNoise::*;
using Layers = std::vector<const LayerNoise*>;

constexpr std::size_t kMostLayers = 12;
constexpr const char* kNothing = "—";

struct PartColumn {
  const char* title;
  Part part;
  int importance;
  Measure measure = &LayerNoise::noise;
};

constexpr std::array<PartColumn, 5> kSqnrs = {
    {{"quantization", &NoiseParts::quantization, 90},
     {"backend", &NoiseParts::backend, 92},
     {"total", &NoiseParts::total, 80},
     {"quantization alone", &NoiseParts::quantization, 87, &LayerNoise::alone},
     {"backend alone", &NoiseParts::backend, 91, &LayerNoise::alone}}};
constexpr std::array<PartColumn, 2> kAdded = {
    {{"quantization adds", &NoiseParts::quantization, 85, &LayerNoise::added},
     {"backend adds", &NoiseParts::backend, 86, &LayerNoise::added}}};

double sum_of(const Attribution& attribution, Measure measure, Part part) {
  double sum = 0;
  for (const auto& layer : attribution.layers) {
    sum += (layer.*measure.*part).value_or(0);
  }
  return sum;
}

/// The largest share that a layer has in what is added, or in the noise of all layers alone.
double weight_of(const Attribution& attribution, const LayerNoise& layer) {
  double largest = 0;
  for (const auto measure : {&LayerNoise::added, &LayerNoise::alone}) {
    for (const auto part : {&NoiseParts::quantization, &NoiseParts::backend}) {
      const auto sum = sum_of(attribution, measure, part);
      largest = std::max(largest, sum > 0 ? (layer.*measure.*part).value_or(0) / sum : 0);
    }
  }
  return largest;
}

Layers worst_layers(const Attribution& attribution) {
  std::vector<std::pair<double, std::size_t>> ranked;  // Largest first, then in order.
  ranked.reserve(attribution.layers.size());
  for (std::size_t i = 0; i < attribution.layers.size(); ++i) {
    ranked.emplace_back(-weight_of(attribution, attribution.layers[i]), i);
  }
  std::ranges::sort(ranked);
  Layers layers;
  for (const auto& [weight, index] : ranked) {
    if (layers.size() < kMostLayers && weight < 0) {
      layers.push_back(&attribution.layers[index]);
    }
  }
  return layers;
}

std::string name_of_layer(const LayerOrigin& origin) {
  return printable(origin.module.empty() ? origin.name : origin.module);
}

TextColumn layer_column(const Layers& layers) {
  TextColumn column{.title = "layer", .is_left = true, .importance = 100, .most_width = 32};
  column.cells.push_back({"(outputs)"});
  for (const auto* layer : layers) {
    column.cells.push_back({name_of_layer(layer->origin)});
  }
  return column;
}

TextColumn operator_column(const Layers& layers) {
  TextColumn column{.title = "operator", .is_left = true, .importance = 60, .most_width = 24};
  column.cells.push_back({kNothing});
  for (const auto* layer : layers) {
    column.cells.push_back({printable(layer->origin.operator_name)});
  }
  return column;
}

TextCell sqnr_cell(const std::optional<double>& noise) {
  return {noise ? text_from_number(sqnr_db_from_noise(*noise)) : kNothing};
}

TextColumn layer_sqnr_column(const Attribution& attribution, const Layers& layers,
                             const PartColumn& what) {
  TextColumn column{.title = what.title, .unit = "dB", .importance = what.importance};
  const bool is_of_outputs = what.measure == &LayerNoise::noise;
  column.cells.push_back(sqnr_cell(is_of_outputs ? attribution.whole.*what.part : std::nullopt));
  for (const auto* layer : layers) {
    column.cells.push_back(sqnr_cell(layer->*what.measure.*what.part));
  }
  return column;
}

TextColumn added_column(const Attribution& attribution, const Layers& layers,
                        const PartColumn& what) {
  TextColumn column{.title = what.title, .unit = "%", .importance = what.importance};
  const auto sum = sum_of(attribution, what.measure, what.part);
  column.cells.push_back({kNothing});
  for (const auto* layer : layers) {
    const auto& added = layer->*what.measure.*what.part;
    column.cells.push_back({added && sum > 0 ? text_from_share(*added / sum) : kNothing});
  }
  return column;
}

bool has_measurement(const TextColumn& column) {
  return std::ranges::any_of(column.cells,
                             [](const TextCell& cell) { return cell.text != kNothing; });
}

}  // namespace

TextTable attribution_table(const Attribution& attribution) {
  const auto layers = worst_layers(attribution);
  std::vector<TextColumn> columns{layer_column(layers), operator_column(layers)};
  for (const auto& what : kSqnrs) {
    columns.push_back(layer_sqnr_column(attribution, layers, what));
  }
  for (const auto& what : kAdded) {
    columns.push_back(added_column(attribution, layers, what));
  }
  TextTable table{.indent = 4};
  std::ranges::copy_if(columns, std::back_inserter(table.columns), has_measurement);
  return table;
}

std::vector<std::string> attribution_lines(const Attribution& attribution) {
  auto lines = attribution.notes;
  const auto shown = worst_layers(attribution).size();
  if (shown < attribution.layers.size()) {
    lines.push_back(
        fmt::format("{} of {} layers are shown: those that add the most error, and those with the "
                    "largest error alone",
                    shown, attribution.layers.size()));
  }
  return lines;
}

}  // namespace assay::report
