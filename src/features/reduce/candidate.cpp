#include "features/reduce/candidate.h"

#include "features/reduce/call_size.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/artifact/job_requests.h"
#include "assay/base/json.h"
#include "assay/record/case.h"
#include "assay/record/model_inputs.h"

namespace assay {
namespace {

constexpr auto* kPiece = "piece:nodes";
constexpr double kWhole = 1e9;  ///< Nodes of a network that was not looked into.

}  // namespace

std::string digest_of(const ReduceCandidate& candidate) { return digest_of_json(Json(candidate)); }

bool is_call(const ModelReference& model) { return model.ref.starts_with("aten:"); }

bool has_to_be_refused(const ModelReference& model) {
  return is_call(model) && model.args.value("values", "") == "refused";
}

bool is_piece(const ModelReference& model) { return model.ref == kPiece; }

std::vector<std::string> nodes_of(const ModelReference& model) {
  return model.args.value("nodes", std::vector<std::string>());
}

namespace {

/// The file that the network's inputs come from; null where they are drawn.
Json file_of_inputs(const ReduceCandidate& whole) {
  if (is_piece(whole.model)) {
    return whole.model.args.value("inputs", Json());
  }
  return whole.inputs.file.empty()
             ? Json()
             : Json{{"file", whole.inputs.file}, {"sha256", whole.inputs.file_sha256}};
}

}  // namespace

ReduceCandidate piece_of(const ReduceCandidate& whole, const std::vector<std::string>& nodes) {
  auto piece = whole;
  const auto from =
      is_piece(whole.model) ? whole.model.args.at("model") : model_request(whole.model);
  // The digest of a file stays: the piece changes with it.
  piece.model = {.ref = kPiece,
                 .args = {{"model", from}, {"nodes", nodes}},
                 .source_sha256 = whole.model.source_sha256};
  if (const auto file = file_of_inputs(whole); !file.is_null()) {
    piece.model.args["inputs"] = file;
  }
  piece.inputs.generator = kModelInputs;
  piece.inputs.file.clear();
  piece.inputs.file_sha256.clear();
  return piece;
}

std::vector<double> size_of(const ReduceCandidate& candidate) {
  if (is_call(candidate.model)) {
    auto size = size_of_call(candidate.model.args, candidate.inputs.count);
    size.insert(size.begin(), 0.0);
    return size;
  }
  const auto nodes = static_cast<double>(nodes_of(candidate.model).size());
  return {is_piece(candidate.model) ? nodes : kWhole, static_cast<double>(candidate.inputs.count)};
}

ASSAY_DEFINE_JSON(ReduceCandidate, model, inputs)

}  // namespace assay
