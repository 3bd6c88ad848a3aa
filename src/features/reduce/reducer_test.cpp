#include "features/reduce/reducer.h"

#include "features/reduce/candidate.h"
#include "features/reduce/finding.h"
#include "features/reduce/proposals.h"
#include "features/reduce/replay.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Names = std::vector<std::string>;

Names network(int size) {
  Names nodes;
  for (int i = 0; i < size; ++i) {
    nodes.push_back("n" + std::to_string(i));
  }
  return nodes;
}

ReduceCandidate whole() { return {.model = {.ref = "net"}, .inputs = {.count = 3}}; }

/// An evaluator for which a network fails when `culprits` are all in it; counts what it is asked.
class FakeEvaluator {
 public:
  FakeEvaluator(Names nodes, std::set<std::string> culprits)
      : nodes_(std::move(nodes)), culprits_(std::move(culprits)) {}

  Result<std::vector<ReduceFinding>> operator()(const std::vector<ReduceCandidate>& candidates) {
    std::vector<ReduceFinding> findings;
    for (const auto& candidate : candidates) {
      if (asked_.size() == die_after_) {
        return fail(ErrorCode::kCrashed, "the evaluator died");
      }
      asked_.push_back(digest_of(candidate));
      findings.push_back(
          verdict_of_nodes(is_piece(candidate.model) ? nodes_of(candidate.model) : nodes_));
    }
    return findings;
  }

  Names asked_;
  std::size_t die_after_ = 100'000;
  ConformVerdict failure_ = ConformVerdict::kCrashed;
  ConformVerdict of_one_culprit_ = ConformVerdict::kPass;

 private:
  [[nodiscard]] ReduceFinding verdict_of_nodes(const Names& nodes) const {
    const auto count = std::ranges::count_if(
        nodes, [this](const std::string& node) { return culprits_.contains(node); });
    const bool is_failing = static_cast<std::size_t>(count) == culprits_.size();
    return {.verdict = is_failing ? failure_ : count > 0 ? of_one_culprit_ : ConformVerdict::kPass};
  }

  Names nodes_;
  std::set<std::string> culprits_;
};

class ReducerTest : public testing::Test {
 protected:
  Result<Reduction> reduce(FakeEvaluator& evaluator, const Names& nodes, ReduceReplay& replay,
                           const ReduceSettings& settings = {}) {
    const ListNodes list = [&nodes](const Json&) -> Result<std::vector<GraphNode>> {
      std::vector<GraphNode> listed;
      for (const auto& name : nodes) {
        listed.push_back({.name = name});
      }
      return listed;
    };
    const ReadSamples read =
        [](const ReduceCandidate&) -> Result<std::vector<std::vector<Tensor>>> {
      return std::vector<std::vector<Tensor>>();
    };
    return reduce_case(whole(), proposals_by(list, read), std::ref(evaluator), replay, settings);
  }

  Result<Reduction> reduce(FakeEvaluator& evaluator, const Names& nodes,
                           const ReduceSettings& settings = {}) {
    ReduceReplay replay;
    return reduce(evaluator, nodes, replay, settings);
  }
};

TEST_F(ReducerTest, FindsExactlyTheNodesThatAreToBlameWhereverTheyStand) {
  const auto nodes = network(40);
  for (const std::set<std::string>& culprits : {std::set<std::string>{"n0"},
                                                {"n39"},
                                                {"n3", "n31"},
                                                {"n7", "n8", "n9"},
                                                {"n0", "n20", "n39"}}) {
    FakeEvaluator evaluator(nodes, culprits);
    const auto found = reduce(evaluator, nodes);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_THAT(nodes_of(found->smallest().candidate.model),
                testing::UnorderedElementsAreArray(culprits));
    EXPECT_EQ(found->stopped_by, "minimal");
    // Far fewer than the 2^40 subsets, and than trying each node in each round.
    EXPECT_LT(evaluator.asked_.size(), 200U);
  }
}

TEST_F(ReducerTest, EveryStepIsSmallerAndFailsAlike) {
  const auto nodes = network(25);
  FakeEvaluator evaluator(nodes, {"n4", "n19"});
  const auto found = reduce(evaluator, nodes).value();
  auto size = size_of(found.first.candidate);
  for (const auto& step : found.steps) {
    EXPECT_LT(size_of(step.candidate), size);
    EXPECT_EQ(step.finding.verdict, ConformVerdict::kCrashed);
    size = size_of(step.candidate);
  }
  EXPECT_GT(found.steps.size(), 2U);
}

TEST_F(ReducerTest, KeepsTheClosestThatPassesOneNodeLess) {
  const auto nodes = network(9);
  FakeEvaluator evaluator(nodes, {"n2", "n6"});
  const auto found = reduce(evaluator, nodes).value();
  ASSERT_TRUE(found.closest);
  EXPECT_EQ(nodes_of(found.closest->candidate.model).size(), 1U);
  EXPECT_EQ(found.closest->finding.verdict, ConformVerdict::kPass);
}

TEST_F(ReducerTest, ADifferentFailureIsNoneOfIt) {
  const auto nodes = network(12);
  FakeEvaluator evaluator(nodes, {"n2", "n6"});
  evaluator.of_one_culprit_ = ConformVerdict::kTimedOut;
  EXPECT_THAT(nodes_of(reduce(evaluator, nodes)->smallest().candidate.model),
              ElementsAre("n2", "n6"));
}

TEST_F(ReducerTest, NothingIsReducedOfWhatPasses) {
  const auto nodes = network(3);
  FakeEvaluator evaluator(nodes, {"n2"});
  evaluator.failure_ = ConformVerdict::kPass;
  const auto found = reduce(evaluator, nodes);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(found.error().message, HasSubstr("pass"));
}

TEST_F(ReducerTest, ABudgetLeavesWhatWasFoundSoFar) {
  const auto nodes = network(40);
  FakeEvaluator evaluator(nodes, {"n3", "n31"});
  int batches = 0;
  ReduceSettings settings;
  settings.why_stop = [&batches] { return std::string(++batches > 3 ? "budget" : ""); };
  const auto found = reduce(evaluator, nodes, settings).value();
  EXPECT_EQ(found.stopped_by, "budget");
  EXPECT_EQ(found.smallest().finding.verdict, ConformVerdict::kCrashed);
  EXPECT_GT(nodes_of(found.smallest().candidate.model).size(), 2U);
}

TEST_F(ReducerTest, ADeathInAnyBatchLosesNothing) {
  const auto nodes = network(30);
  FakeEvaluator undisturbed(nodes, {"n3", "n21"});
  const auto expected = reduce(undisturbed, nodes).value();
  const auto folder = TemporaryFolder::make("assay-reduce").value();
  for (std::size_t deaths = 0; deaths < undisturbed.asked_.size(); deaths += 5) {
    const auto path = folder.path() / std::to_string(deaths);
    FakeEvaluator first(nodes, {"n3", "n21"});
    first.die_after_ = deaths;
    {
      auto replay = ReduceReplay::open(path, "subject").value();
      EXPECT_EQ(reduce(first, nodes, replay).error().code, ErrorCode::kCrashed);
    }
    FakeEvaluator second(nodes, {"n3", "n21"});
    auto replay = ReduceReplay::open(path, "subject").value();
    const auto known = replay.size();
    const auto found = reduce(second, nodes, replay).value();
    EXPECT_EQ(digest_of(found.smallest().candidate), digest_of(expected.smallest().candidate));
    // A batch that was under way is judged again, and nothing else.
    EXPECT_EQ(second.asked_.size(), undisturbed.asked_.size() - known);
    EXPECT_GE(known + 4, deaths);
  }
}

}  // namespace
}  // namespace assay
