#include "assay/campaign/evaluation.h"

#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/artifact_builder.h"
#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/case_launch.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/output_evaluation.h"
#include "assay/campaign/preparation.h"
#include "assay/evaluate/attribution.h"
#include "assay/evaluate/comparability.h"
#include "assay/evaluate/tolerance.h"
#include "assay/record/attribution.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/spec/reference_kind.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

/// Null without an artifact, and for a program that was made elsewhere.
Json manifest_of(const PreparedCase& prepared) {
  return prepared.artifact ? prepared.artifact->manifest : Json();
}

/// One evaluation launch of one case under judgement.
class CaseEvaluation {
 public:
  CaseEvaluation(const EvaluationScene& scene, std::size_t cell, const LaunchResult& result,
                 const std::string& attempt)
      : scene_(scene),
        cell_(cell),
        attempt_(attempt),
        prepared_(scene.prepared[cell]),
        manifest_(manifest_of(prepared_)),
        layers_(layers_of(manifest_).size()),
        parts_(parts_of(manifest_)),
        brought_(
            {.outputs = result.outputs,
             .specs = result.launch.load ? result.launch.load->outputs : std::vector<TensorSpec>{},
             .differing_elements = result.differing_elements,
             .random_operators = random_operators_of(manifest_)}) {}

  Result<std::string> run() {
    if (layers_ > 0) {
      ASSAY_RETURN_IF_ERROR(attribute());
    }
    for (const auto& kind : scene_.settings.against) {
      ASSAY_RETURN_IF_ERROR(judge_against(kind));
    }
    if (!is_answered_ && failure_.empty()) {
      ASSAY_RETURN_IF_ERROR(tell_nothing_compared());
    }
    return failure_;
  }

 private:
  Status attach(const std::string& kind, const std::string& content) {
    return scene_.tools.store.add_attachment({.owner = attempt_, .kind = kind, .content = content});
  }

  Status judge_against(const std::string& kind) {
    if (scene_.references.find_provider(cell_, kind) == cell_) {
      is_answered_ = true;
      ASSAY_RETURN_IF_ERROR(attach("note", note_on_provider(kind)));
      return attach("gives_reference", kind);
    }
    const auto reference = find_reference(kind);
    if (!reference) {
      return tell_missing_reference(kind);
    }
    if (const auto reason =
            why_not_comparable(manifest_, reference->document, fed_document(prepared_))) {
      scene_.tools.listener.on_note(
          fmt::format("{}: nothing compared with {}: {}", label_of(prepared_.cell), kind, *reason));
      return attach_unchecked(kind, *reason);
    }
    is_answered_ = true;
    const auto& tolerance = scene_.settings.tolerance;
    if (!parts_.empty()) {
      const auto tables = evaluate_parts(prepared_.cell, brought_, *reference, tolerance, parts_);
      return tables ? attach("part_tables", Json(*tables).dump()) : keep_failure(tables.error());
    }
    const auto table = evaluate_outputs(prepared_.cell, brought_, *reference, tolerance, layers_);
    if (!table) {
      return keep_failure(table.error());
    }
    ASSAY_RETURN_IF_ERROR(scene_.tools.store.add_metrics(metric_rows_of(*table, attempt_)));
    return attach("accuracy_table", Json(*table).dump());
  }

  /// A file that cannot be judged is this case's failure; a tolerance that makes no sense is that
  /// of the whole spec.
  Status keep_failure(const Error& error) {
    if (error.code != ErrorCode::kCorrupt && error.code != ErrorCode::kNotFound) {
      return std::unexpected(error);
    }
    failure_ = failure_.empty() ? error.message : failure_;
    return {};
  }

  // ---- references

  std::optional<Reference> find_reference(const std::string& kind) const {
    if (engine_of_kind(kind)) {
      return scene_.references.find(cell_, kind);
    }
    const auto found = prepared_.references.find(kind);
    return found == prepared_.references.end() ? std::nullopt : std::optional(found->second);
  }

  /// The document of the reference whose inputs the launch was given; null: it had its own.
  static Json fed_document(const PreparedCase& prepared) {
    const auto* fed = find_input_reference(prepared);
    return fed == nullptr ? Json() : fed->document;
  }

  std::string note_on_provider(const std::string& kind) const {
    std::string note =
        fmt::format("provides the reference {}, so it is not compared with itself", kind);
    return brought_.differing_elements == 0
               ? note
               : fmt::format(
                     "{}; {} of its own elements differ between executions on the same "
                     "input, so it is not certain",
                     note, brought_.differing_elements);
  }

  /// Nothing for a kind that nobody was to make.
  std::optional<std::string> why_missing(const std::string& kind) const {
    if (const auto provider = scene_.references.find_provider(cell_, kind)) {
      return scene_.text_of(*provider);
    }
    const auto missing = prepared_.missing_references.find(kind);
    return missing == prepared_.missing_references.end() ? std::nullopt
                                                         : std::optional(missing->second.text);
  }

  /// A reference that was to be made and could not leaves the case unchecked; one that the
  /// toolchain does not know for this recipe is told.
  Status tell_missing_reference(const std::string& kind) {
    const auto reason = why_missing(kind);
    if (!reason) {
      return {};
    }
    scene_.tools.listener.on_note(
        fmt::format("{}: no {} reference: {}", label_of(prepared_.cell), kind, *reason));
    const auto missing = prepared_.missing_references.find(kind);
    if (missing != prepared_.missing_references.end() &&
        missing->second.outcome == Outcome::kUnsupported) {
      return {};
    }
    return attach_unchecked(kind, "there is no such reference: " + *reason);
  }

  /// The outputs were compared with nothing: no pass comes of that.
  Status tell_nothing_compared() {
    std::vector<std::string> reasons;
    reasons.reserve(scene_.settings.against.size());
    for (const auto& kind : scene_.settings.against) {
      reasons.push_back(fmt::format(
          "{} ({})", kind, why_missing(kind).value_or(why_never_made(prepared_.cell, kind))));
    }
    const auto reason =
        fmt::format("nothing was compared; no reference of kind {}", fmt::join(reasons, ", "));
    return attach_unchecked(reasons.empty() ? "" : scene_.settings.against.front(), reason);
  }

  static std::string why_never_made(const Case& cell, const std::string& kind) {
    if (kind == kFileKind) {
      return "its inputs come without expected outputs";
    }
    return is_program_file(cell.model) ? "a finished program has no model to compute it from"
                                       : "the recipe does not quantize";
  }

  Status attach_unchecked(const std::string& kind, const std::string& reason) {
    is_answered_ = true;
    const AccuracyTable table{.against = kind, .accuracy = Accuracy::kNotChecked, .reason = reason};
    return attach("accuracy_table", Json(table).dump());
  }

  // ---- layers

  Status attribute() {
    const auto comparable =
        comparable_references(prepared_.references, manifest_, fed_document(prepared_));
    if (comparable.references.empty() && !comparable.reason.empty()) {
      return attach("note", fmt::format("the error was not followed through the layers: {}",
                                        comparable.reason));
    }
    auto judged = evaluate_layers(manifest_, brought_, comparable.references);
    if (!judged) {
      failure_ = judged.error().message;
      return {};
    }
    auto found = *std::move(judged);
    if (!comparable.reason.empty()) {
      found.notes.push_back("a reference was left out: " + comparable.reason);
    }
    ASSAY_ASSIGN_OR_RETURN(const auto least_db, least_backend_db());
    if (least_db) {
      note_first_beyond(*least_db, found);
    }
    if (prepared_.pieces) {
      ASSAY_ASSIGN_OR_RETURN(const auto reason, judge_layers_alone(*prepared_.pieces, found));
      if (!reason.empty()) {
        found.notes.push_back("the layers could not be evaluated on exact inputs: " + reason);
      }
    }
    return attach("attribution", Json(found).dump());
  }

  /// Lower bound of the SQNR of an output against what the engine was given to compute, if any.
  Result<std::optional<double>> least_backend_db() const {
    const std::string kind = prepared_.references.contains("qdq") ? "qdq" : "float32";
    ASSAY_ASSIGN_OR_RETURN(const auto tolerances,
                           tolerances_for(prepared_.cell.recipe, scene_.settings.tolerance, kind));
    const auto& bounds = tolerances.floating.bounds;
    const auto found = bounds.find("sqnr_db");
    return found == bounds.end() ? std::nullopt : std::optional(found->second);
  }

  /// Measures the layers by themselves in a launch of its own. Returns an empty text, or why there
  /// is no answer.
  Result<std::string> judge_layers_alone(const PreparedCase& pieces, Attribution& found) const {
    if (const auto reason = why_not_ready(pieces)) {
      return *reason;
    }
    auto request = launch_request_from_case(pieces, Pass::kEvaluate, scene_.settings);
    request.repeat = 1;
    ASSAY_ASSIGN_OR_RETURN(const auto result, scene_.launch(request));
    if (result.launch.outcome != Outcome::kCompleted) {
      return fmt::format("{}: {}", name_of(result.launch.outcome), result.launch.text);
    }
    const auto manifest = manifest_of(pieces);
    const auto comparable =
        comparable_references(pieces.references, manifest, fed_document(pieces));
    if (!comparable.reason.empty()) {
      return comparable.reason;
    }
    const auto judged =
        evaluate_pieces(manifest, {.outputs = result.outputs}, comparable.references, found);
    return judged ? std::string() : judged.error().message;
  }

  static std::optional<std::string> why_not_ready(const PreparedCase& pieces) {
    if (!pieces.artifact) {
      return pieces.failure.text;
    }
    for (const auto& [kind, failure] : pieces.missing_references) {
      return fmt::format("no {} reference: {}", kind, failure.text);
    }
    return std::nullopt;
  }

  const EvaluationScene& scene_;
  std::size_t cell_;
  const std::string& attempt_;
  const PreparedCase& prepared_;
  Json manifest_;
  std::size_t layers_;
  std::vector<ProgramPart> parts_;
  LaunchOutputs brought_;
  std::string failure_;       ///< Why something could not be judged; empty: all was.
  bool is_answered_ = false;  ///< A table, or a note of its own, says what came of it.
};

}  // namespace

Result<std::string> evaluate_case(const EvaluationScene& scene, std::size_t cell,
                                  const LaunchResult& result, const std::string& attempt) {
  return CaseEvaluation(scene, cell, result, attempt).run();
}

}  // namespace assay
