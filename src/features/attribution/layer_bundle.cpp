#include "features/attribution/layer_bundle.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "assay/artifact/artifact_builder.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/enum_names.h"
#include "assay/base/file_name.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/campaign/preparation.h"
#include "assay/record/attribution.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/record/summary.h"
#include "assay/spec/reference_kind.h"

namespace assay {
namespace {

/// Rounding may end on either side of a step's middle; the rest is float's own.
constexpr double kOneStep = 1.01;

/// Ratio for an error of a 256th of the range in a result whose rms is an eighth of it.
constexpr double kDbOfOneStep = 30;

/// The first layer whose noise of that kind is no number, as the layer gives NaN or infinities that
/// its reference has not. Null: there is none, or nothing was compared.
const LayerNoise* find_not_finite(const Attribution& found,
                                  std::optional<double> NoiseParts::* part) {
  const auto is_absent = [part](const LayerNoise& layer) {
    return !(layer.noise.*part).has_value();
  };
  const auto first = std::ranges::find_if(found.layers, is_absent);
  const bool is_compared = !std::ranges::all_of(found.layers, is_absent);
  return first == found.layers.end() || !is_compared ? nullptr : &*first;
}

/// Finds the layer with the largest error of the backend: one with wrong NaN or infinities, else
/// the worst on exact inputs, else the one that adds most. If the backend has no error, the same by
/// the error of quantization. Null: no layer has any error.
const LayerNoise* find_worst(const Attribution& found) {
  for (const auto part : {&NoiseParts::backend, &NoiseParts::quantization}) {
    if (const auto* layer = find_not_finite(found, part)) {
      return layer;
    }
    for (const auto measure : {&LayerNoise::alone, &LayerNoise::added}) {
      const auto noise = [&](const LayerNoise& layer) {
        return (layer.*measure.*part).value_or(0);
      };
      const auto worst = std::ranges::max_element(found.layers, {}, noise);
      if (worst != found.layers.end() && noise(*worst) > 0) {
        return &*worst;
      }
    }
  }
  return nullptr;
}

/// A layer alone has to be right to a step of its result's quantization. Null without quantization:
/// the default holds.
Json tolerance_of(const Case& cell, const Artifact& artifact) {
  if (cell.recipe.quantization.is_null()) {
    return nullptr;
  }
  const Json::json_pointer path("/program/methods/0/outputs/0/quantization/scale");
  if (artifact.manifest.contains(path) && artifact.manifest.at(path).is_number()) {
    return {{"max_abs_error", kOneStep * artifact.manifest.at(path).get<double>()},
            {"why", "one layer alone: a step of the quantization of its result"}};
  }
  return {{"sqnr_db", kDbOfOneStep},
          {"why", "one layer alone: a step of eight bits where the rms is an eighth of the range"}};
}

Json bundle_spec_from_case(const Case& cell, const Artifact& artifact) {
  const Json model = {{"ref", artifact.entry},
                      {"inputs", "inputs.safetensors"},
                      {"expected", "outputs.safetensors"}};
  Json spec = {{"schema", "assay/spec/1"},
               {"name", fmt::format("{} of {}", cell.pieces.front(), label_of(cell))},
               {"models", Json::array({model})},
               {"engines", Json::array({cell.engine_build})},
               {"measure", {{"passes", Json::array({"evaluate"})}}},
               {"evaluate", {{"against", Json::array({"file"})}}}};
  if (const auto tolerance = tolerance_of(cell, artifact); !tolerance.is_null()) {
    spec["evaluate"]["tolerance"] = tolerance;
  }
  if (!cell.options.empty()) {
    spec["options"] = cell.options;
  }
  return spec;
}

class BundleWriter {
 public:
  BundleWriter(const LayerBundleRequest& request, const ArtifactCache& cache)
      : request_(request), cache_(cache) {}

  Status write(const Case& cell, const Attribution& found) const {
    const auto* worst = find_worst(found);
    if (worst == nullptr) {
      log_line(LogLevel::kInfo,
               fmt::format("{}: no layer has an error, so no bundle was written", label_of(cell)));
      return {};
    }
    const auto piece = case_of_pieces(cell, {worst->origin.name});
    ASSAY_ASSIGN_OR_RETURN(const auto made, make(piece));
    const auto kind = name_of(nearest_reference_kind(cell, /*has_error_bounds=*/false));
    ASSAY_ASSIGN_OR_RETURN(const auto toolchain, request_.toolchain_of(cell.recipe.lowering));
    const auto& program = made.artifacts.at(artifact_key(piece, toolchain.id));
    const auto& expected = made.references.at(reference_key(piece, kind, toolchain.id));
    if (!program.artifact || !expected.reference) {
      log_line(LogLevel::kWarning,
               fmt::format("{}: {} could not be built as a program of its own: {}", label_of(cell),
                           worst->origin.name,
                           (program.artifact ? expected.failure : program.failure).text));
      return {};
    }
    return write(piece, *program.artifact, *expected.reference);
  }

 private:
  [[nodiscard]] Result<BuiltArtifacts> make(const Case& piece) const {
    return build_artifacts({.cases = {piece},
                            .reference_kinds = {std::string(name_of(ReferenceKind::kFloat32)),
                                                std::string(name_of(ReferenceKind::kQdq))},
                            .parallel_jobs = request_.parallel_jobs,
                            .sandbox = request_.sandbox},
                           request_.toolchain_of, cache_, {.should_stop = request_.should_stop});
  }

  [[nodiscard]] Status write(const Case& piece, const Artifact& artifact,
                             const Reference& reference) const {
    const auto folder = request_.folder / file_name_from(label_of(case_of_pieces(piece, {})));
    ASSAY_RETURN_IF_ERROR(copy_artifact(artifact, folder));
    ASSAY_RETURN_IF_ERROR(copy_reference(reference, folder));
    const auto spec = folder / "spec.json";
    ASSAY_RETURN_IF_ERROR(
        write_file_atomically(spec, bundle_spec_from_case(piece, artifact).dump(2) + "\n"));
    auto command = "assay run " + spec.string();
    for (const auto& library : request_.libraries) {
      command += " --library " + library;
    }
    log_line(LogLevel::kInfo, fmt::format("{} alone: {}", piece.pieces.front(), command));
    return {};
  }

  const LayerBundleRequest& request_;
  const ArtifactCache& cache_;
};

}  // namespace

Status write_layer_bundles(const LayerBundleRequest& request, const RunSummary& summary,
                           const ArtifactCache& cache) {
  const BundleWriter writer(request, cache);
  for (const auto& cell : request.cases) {
    const auto is_same = [&](const CaseSummary& row) {
      return case_id_from(row) == case_id_from(cell);
    };
    const auto row = std::ranges::find_if(summary.cases, is_same);
    if (row == summary.cases.end()) {
      continue;
    }
    if (const auto& found = row->attribution) {
      ASSAY_RETURN_IF_ERROR(writer.write(cell, *found));
    }
  }
  return {};
}

}  // namespace assay
