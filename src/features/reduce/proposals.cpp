#include "features/reduce/proposals.h"

#include "features/reduce/call_arguments.h"
#include "features/reduce/call_dimensions.h"
#include "features/reduce/call_tensors.h"
#include "features/reduce/call_values.h"
#include "features/reduce/candidate.h"
#include "features/reduce/reducer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/job_requests.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t kMostWritten = 4096;  ///< Elements of a call that are written out.
constexpr std::size_t kFinestAlone = 8;      ///< Parts of a piece that are tried by themselves.
constexpr std::size_t kMostNamed = 6;        ///< Nodes that a step names.

std::string text_of_nodes(const Names& nodes) {
  if (nodes.size() <= kMostNamed) {
    return fmt::format("{}", fmt::join(nodes, ", "));
  }
  return fmt::format("{} nodes, {} to {}", nodes.size(), nodes.front(), nodes.back());
}

class Proposer {
 public:
  Proposer(const ListNodes& list_nodes, const ReadSamples& read_samples)
      : list_nodes_(list_nodes), read_samples_(read_samples) {}

  Result<std::vector<ReduceProposal>> operator()(const ReduceCandidate& current) const {
    return is_call(current.model)    ? of_call(current)
           : is_piece(current.model) ? of_piece(current)
                                     : of_whole(current);
  }

 private:
  [[nodiscard]] Result<std::vector<ReduceProposal>> of_whole(const ReduceCandidate& whole) const {
    ASSAY_ASSIGN_OR_RETURN(const auto nodes, list_nodes_(model_request(whole.model)));
    Names names;
    for (const auto& node : nodes) {
      names.push_back(node.name);
    }
    std::vector<ReduceProposal> proposals;
    if (!names.empty()) {
      auto piece = piece_of(whole, names);
      if (!whole.inputs.file.empty()) {  // The file decides how many there are.
        ASSAY_ASSIGN_OR_RETURN(const auto samples, read_samples_(whole));
        piece.inputs.count = static_cast<int>(std::max<std::size_t>(samples.size(), 1));
      }
      proposals.push_back({std::move(piece), "its graph: " + text_of_nodes(names)});
    }
    return proposals;
  }

  [[nodiscard]] Result<std::vector<ReduceProposal>> of_piece(const ReduceCandidate& piece) const {
    const auto nodes = nodes_of(piece.model);
    std::vector<ReduceProposal> proposals;
    for (const auto& subset : subsets_of(nodes)) {
      proposals.push_back({piece_of(piece, subset), text_of_nodes(subset)});
    }
    if (nodes.size() == 1) {
      ASSAY_RETURN_IF_ERROR(add_call(piece, nodes.front(), proposals));
    }
    return proposals;
  }

  Status add_call(const ReduceCandidate& piece, const std::string& name,
                  std::vector<ReduceProposal>& proposals) const {
    ASSAY_ASSIGN_OR_RETURN(const auto nodes, list_nodes_(piece.model.args.at("model")));
    const auto node = std::ranges::find(nodes, name, &GraphNode::name);
    if (node == nodes.end() || !node->call.is_object()) {
      return {};
    }
    auto call = piece;
    call.model = {.ref = node->call.at("ref").get<std::string>(), .args = node->call.at("args")};
    // It may fail only on values that the network, or a file of inputs, gives it.
    ASSAY_RETURN_IF_ERROR(add_written(piece, call, node->operator_name + " by itself", proposals));
    proposals.push_back({std::move(call), node->operator_name + " by itself"});
    return {};
  }

  [[nodiscard]] Result<std::vector<ReduceProposal>> of_call(const ReduceCandidate& current) const {
    std::vector<ReduceProposal> proposals;
    const bool is_refused = has_to_be_refused(current.model);
    if (!is_refused) {  // Else the last samples are what matters.
      ASSAY_RETURN_IF_ERROR(add_samples(current, proposals));
    }
    const auto& call = current.model.args;
    for (auto* changes_of :
         {fewer_open_sizes, smaller_shapes, fewer_arguments, plainer_tensors, simpler_values}) {
      for (auto& change : changes_of(call)) {
        auto candidate = current;
        candidate.model.args = std::move(change.call);
        if (has_to_be_refused(candidate.model) == is_refused) {
          proposals.push_back({std::move(candidate), std::move(change.what)});
        }
      }
    }
    return proposals;
  }

  /// A call on each sample that `judged` was judged on, written out where that is short.
  Status add_written(const ReduceCandidate& judged, const ReduceCandidate& call,
                     const std::string& what, std::vector<ReduceProposal>& proposals) const {
    std::int64_t elements = 0;
    for (const auto& path : tensors_of_call(call.model.args)) {
      elements += elements_of(call.model.args.at(path));
    }
    if (elements > kMostWritten) {
      return {};
    }
    ASSAY_ASSIGN_OR_RETURN(const auto samples, read_samples_(judged));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (auto& change : with_data(call.model.args, samples[i])) {
        auto one = call;
        one.inputs.count = 1;
        one.model.args = std::move(change.call);
        proposals.push_back({std::move(one), fmt::format("{}sample {} alone, written out",
                                                         what.empty() ? "" : what + ", ", i)});
      }
    }
    return {};
  }

  /// One sample instead of several: each written out where that is short, else the first one.
  Status add_samples(const ReduceCandidate& current, std::vector<ReduceProposal>& proposals) const {
    if (current.inputs.count == 1) {
      return {};
    }
    ASSAY_RETURN_IF_ERROR(add_written(current, current, "", proposals));
    auto one = current;
    one.inputs.count = 1;
    proposals.push_back({std::move(one), "one sample"});
    return {};
  }

  const ListNodes& list_nodes_;
  const ReadSamples& read_samples_;
};

/// Part number `part` of `parts` about equal ones.
std::pair<std::size_t, std::size_t> bounds_of(std::size_t count, std::size_t part,
                                              std::size_t parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

Names part_of(const Names& nodes, std::size_t begin, std::size_t end) {
  return {nodes.begin() + static_cast<std::ptrdiff_t>(begin),
          nodes.begin() + static_cast<std::ptrdiff_t>(end)};
}

Names without(const Names& nodes, std::size_t begin, std::size_t end) {
  auto left = nodes;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(begin),
             left.begin() + static_cast<std::ptrdiff_t>(end));
  return left;
}

}  // namespace

std::vector<Names> subsets_of(const Names& nodes) {
  const auto count = nodes.size();
  std::vector<Names> subsets;
  for (std::size_t parts = 2; parts <= std::min(kFinestAlone, count); parts *= 2) {
    for (std::size_t part = 0; part < parts; ++part) {
      const auto [begin, end] = bounds_of(count, part, parts);
      subsets.push_back(part_of(nodes, begin, end));
    }
  }
  for (std::size_t parts = 4; parts / 2 < count && count > 2; parts *= 2) {
    const auto cuts = std::min(parts, count);
    for (std::size_t part = 0; part < cuts; ++part) {
      const auto [begin, end] = bounds_of(count, part, cuts);
      subsets.push_back(without(nodes, begin, end));
    }
  }
  return subsets;
}

ProposeCandidates proposals_by(const ListNodes& list_nodes, const ReadSamples& read_samples) {
  return Proposer(list_nodes, read_samples);
}

}  // namespace assay
