#pragma once

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/case.h"

namespace assay {

/// Parts of a case that a reducer changes: the model, and the inputs that it is judged on.
struct ReduceCandidate {
  ModelReference model;
  InputSet inputs;
};

/// A smaller candidate, and in a few words what was done: "half of every extent 20: 10".
struct ReduceProposal {
  ReduceCandidate candidate;
  std::string what;
};

/// Digest of everything that makes a candidate what it is.
std::string digest_of(const ReduceCandidate& candidate);

/// True if the model is a call of one operator, whose arguments stand in it.
bool is_call(const ModelReference& model);

/// True if the model is a call of which the last samples have to be refused.
bool has_to_be_refused(const ModelReference& model);

/// True if the model is some of the nodes of another one.
bool is_piece(const ModelReference& model);

/// Names of the nodes of a piece.
std::vector<std::string> nodes_of(const ModelReference& model);

/// These nodes of `whole`, which is whole or a piece itself. The inputs are those that a piece
/// brings along: what the network makes of its own inputs, those of a file too.
ReduceCandidate piece_of(const ReduceCandidate& whole, const std::vector<std::string>& nodes);

/// How large a candidate is, the weightiest first; compared lexicographically. A whole network is
/// larger than any piece, a piece than any call; calls by their elements, dimensions, types,
/// arguments and values.
std::vector<double> size_of(const ReduceCandidate& candidate);

ASSAY_DECLARE_JSON(ReduceCandidate);

}  // namespace assay
