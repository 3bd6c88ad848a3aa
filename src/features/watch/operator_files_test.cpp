#include "features/watch/operator_files.h"

#include "features/compare/bisection_search.h"
#include "features/repository/path_filter.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"

namespace assay::watch {
namespace {

TEST(OperatorFiles, BelongToWhatChangedInTheSameDirection) {
  const Json operators = {{{"name", "conv"}, {"change_ns", 120.0}, {"share", -0.03}},
                          {{"name", "relu"}, {"change_ns", 10.0}},
                          {{"name", "pool"}, {"change_ns", -90.0}},
                          {{"name", "gone"}, {"change_ns", nullptr}}};
  EXPECT_EQ(operators_that_changed(operators, 0.05), std::vector<std::string>{"conv"});
  EXPECT_EQ(operators_that_changed(operators, -0.05), std::vector<std::string>{"pool"});
  EXPECT_TRUE(operators_that_changed(Json::array(), 0.05).empty());
}

TEST(OperatorFiles, AreFoundByName) {
  EXPECT_TRUE(names_operator({"src/conv_dw.cpp"}, {"conv_dw"}, {}));
  EXPECT_TRUE(names_operator({"docs/a.md", "kernels/ConvDW/neon.h"}, {"conv_dw"}, {}));
  EXPECT_TRUE(names_operator({"src/conv2d_impl.cpp"}, {"aten::conv2d"}, {}));
  EXPECT_TRUE(names_operator({"src/ops/conv_dw.cpp"}, {"conv_dw #1"}, {}));
  EXPECT_FALSE(names_operator({"src/pool.cpp"}, {"conv_dw"}, {}));
  EXPECT_FALSE(names_operator({"src/main.cpp"}, {"in"}, {})) << "too short to name a file";
  EXPECT_FALSE(names_operator({"src/main.cpp"}, {}, {}));
}

TEST(OperatorFiles, AreThoseOfTheRepositoryFile) {
  const PathFilter paths{.operators = {{"conv_*", {"src/kernels", "*.S"}}}};
  EXPECT_TRUE(names_operator({"src/kernels/gemm.c"}, {"conv_dw"}, paths));
  EXPECT_TRUE(names_operator({"asm/a.S"}, {"conv_dw"}, paths));
  EXPECT_TRUE(names_operator({"x.c"}, {"conv_dw #2"}, {.operators = {{"conv_dw", {"x.c"}}}}));
  EXPECT_FALSE(names_operator({"src/conv_dw.c"}, {"conv_dw"}, paths)) << "listed elsewhere";
  EXPECT_TRUE(names_operator({"src/pool.c"}, {"pool"}, paths));
}

TEST(OperatorFiles, MakeACommitThreeTimesAsLikely) {
  std::vector<BisectionCommit> commits(8);
  commits[5].weight = 3;
  const BisectionSearch search(commits);
  EXPECT_DOUBLE_EQ(search.probabilities()[5], 0.3);
  EXPECT_DOUBLE_EQ(search.probabilities()[0], 0.1);
  EXPECT_EQ(search.next(), std::size_t{4}) << "halves the probability, not the commits";
}

}  // namespace
}  // namespace assay::watch
