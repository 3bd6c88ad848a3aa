#pragma once

#include "features/reduce/candidate.h"
#include "features/reduce/reducer.h"

#include <functional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// One operator of a network. `call`: the same as a model of one operator; null: it has no such
/// form.
struct GraphNode {
  std::string name;
  std::string operator_name;
  Json call;
};

/// The operators of a network, a MODEL of docs/contracts/aot.md, in the order of its graph.
using ListNodes = std::function<Result<std::vector<GraphNode>>(const Json& model)>;

/// The inputs that a candidate was judged on, for each sample; none if they are not known.
using ReadSamples =
    std::function<Result<std::vector<std::vector<Tensor>>>(const ReduceCandidate& candidate)>;

/// Smaller candidates of any candidate. A network becomes a piece of all its nodes; a piece halves,
/// quarters, and itself less some nodes, in the end less each one; a piece of one node a call of
/// its operator, on values of its own and on those that the piece failed on. A call gets one
/// sample, written out, then smaller shapes, fewer arguments, plainer tensors and simpler values.
/// Pure but for the two functions, which outlive it.
ProposeCandidates proposals_by(const ListNodes& list_nodes, const ReadSamples& read_samples);

/// Subsets of a network's nodes to try, the boldest first: `nodes` in halves, quarters and eighths,
/// then without a quarter, an eighth, … each one. All but `nodes` itself and none.
std::vector<std::vector<std::string>> subsets_of(const std::vector<std::string>& nodes);

}  // namespace assay
