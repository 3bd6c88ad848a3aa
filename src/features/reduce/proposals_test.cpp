#include "features/reduce/proposals.h"

#include "features/reduce/candidate.h"

#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

using ProposalNames = std::vector<std::string>;

TEST(Subsets, HoldEachNodeAloneAndTheWholeLessEach) {
  for (const std::size_t count : {2U, 3U, 5U, 8U, 13U}) {
    ProposalNames nodes;
    for (std::size_t i = 0; i < count; ++i) {
      nodes.push_back("n" + std::to_string(i));
    }
    const auto subsets = subsets_of(nodes);
    for (const auto& node : nodes) {
      auto less = nodes;
      std::erase(less, node);
      EXPECT_THAT(subsets, Contains(less)) << count << " " << node;
    }
    EXPECT_THAT(subsets, Not(Contains(nodes)));
    EXPECT_THAT(subsets, Not(Contains(ProposalNames())));
  }
  EXPECT_THAT(subsets_of({"only"}), IsEmpty());
}

class ProposalsTest : public testing::Test {
 protected:
  std::vector<ReduceProposal> of(const ReduceCandidate& current) {
    return proposals_by(list_, read_)(current).value();
  }

  const Json call_ = {{"ref", "aten:relu.default"},
                      {"args", {{"args", {{{"shape", {4}}, {"dtype", "float32"}}}}}}};
  const ListNodes list_ = [this](const Json& model) -> Result<std::vector<GraphNode>> {
    EXPECT_EQ(model.at("ref"), "net");
    return std::vector<GraphNode>{{"conv2d", "aten.conv2d.default", nullptr},
                                  {"relu", "aten.relu.default", call_}};
  };
  const ReadSamples read_ = [](const ReduceCandidate&) -> Result<std::vector<std::vector<Tensor>>> {
    const std::vector<double> values = {1, 2.5, -3, 0.1};
    return std::vector<std::vector<Tensor>>{{tensor_from_doubles(values, {4}, Dtype::kFloat32)}};
  };
};

TEST_F(ProposalsTest, ANetworkBecomesItsGraphAndAPieceOfOneNodeACall) {
  const ReduceCandidate whole{.model = {.ref = "net", .args = {{"n", 1}}, .source_sha256 = "abc"}};
  const auto graph = of(whole);
  ASSERT_EQ(graph.size(), 1U);
  const auto piece = graph.front().candidate;
  EXPECT_THAT(nodes_of(piece.model), ElementsAre("conv2d", "relu"));
  EXPECT_EQ(piece.model.args["model"]["args"], Json({{"n", 1}}));
  EXPECT_EQ(piece.model.source_sha256, "abc");
  EXPECT_EQ(piece.inputs.generator, "model");
  EXPECT_LT(size_of(piece), size_of(whole));

  const auto last = of(piece_of(piece, {"relu"}));
  ASSERT_EQ(last.size(), 2U);
  for (const auto& proposal : last) {
    EXPECT_EQ(proposal.candidate.model.ref, "aten:relu.default");
    EXPECT_TRUE(proposal.candidate.model.source_sha256.empty());
    EXPECT_LT(size_of(proposal.candidate), size_of(piece_of(piece, {"relu"})));
  }
  const auto& written = last.front().candidate;
  EXPECT_EQ(written.model.args["args"][0]["data"], Json({1.0, 2.5, -3.0, 0.1}))
      << "the values that the network gives it may be what it fails on";
  EXPECT_EQ(written.inputs.count, 1);
  EXPECT_FALSE(last.back().candidate.model.args["args"][0].contains("data"));
  EXPECT_THAT(of(piece_of(piece, {"conv2d"})), IsEmpty());
}

TEST_F(ProposalsTest, APieceKeepsTheSamplesOfAFile) {
  const ReduceCandidate whole{
      .model = {.ref = "net"},
      .inputs = {.generator = "file", .count = 3, .file = "/x.npz", .file_sha256 = "abc"}};
  const auto graph = of(whole).front().candidate;
  const Json file = {{"file", "/x.npz"}, {"sha256", "abc"}};
  EXPECT_EQ(graph.model.args.at("inputs"), file);
  EXPECT_EQ(graph.inputs.count, 1) << "as many as the file has";
  EXPECT_TRUE(graph.inputs.file.empty());
  EXPECT_EQ(piece_of(graph, {"relu"}).model.args.at("inputs"), file);
}

TEST_F(ProposalsTest, ACallGetsTheValuesThatItFailedOn) {
  ReduceCandidate call{.model = {.ref = "aten:relu.default", .args = call_.at("args")},
                       .inputs = {.generator = "model", .count = 3}};
  const auto first = of(call).front().candidate;
  EXPECT_EQ(first.inputs.count, 1);
  EXPECT_EQ(first.model.args["args"][0]["data"], Json({1.0, 2.5, -3.0, 0.1}));
  EXPECT_LT(size_of(first), size_of(call));
}

TEST_F(ProposalsTest, ACallThatHasToBeRefusedKeepsTheSamplesThatAre) {
  auto args = call_.at("args");
  args["values"] = "refused";
  const ReduceCandidate call{.model = {.ref = "aten:relu.default", .args = args},
                             .inputs = {.generator = "model", .count = 3}};
  const auto proposals = of(call);
  EXPECT_FALSE(proposals.empty());
  for (const auto& proposal : proposals) {
    EXPECT_EQ(proposal.candidate.inputs.count, 3) << proposal.what;
    EXPECT_TRUE(has_to_be_refused(proposal.candidate.model)) << proposal.what;
  }
}

}  // namespace
}  // namespace assay
