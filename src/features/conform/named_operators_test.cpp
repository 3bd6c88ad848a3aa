#include "features/conform/named_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NamedOperators, AreFoundInTheWordsOfEachEngine) {
  EXPECT_THAT(
      operators_named("no kernel is registered for aten::cummax.out, aten::cumprod.out; give"),
      ElementsAre("cummax", "cumprod"));
  EXPECT_THAT(operators_named("<OpOverload(op='aten.scatter', overload='reduce')>"),
              ElementsAre("scatter"));
  EXPECT_THAT(operators_named("of operator (LogSoftmax) in node (node_LogSoftmax_0) is invalid"),
              ElementsAre("logsoftmax"));
  EXPECT_THAT(operators_named("'node_conv2d' and aten::index_put."),
              ElementsAre("conv2d", "indexput"));
  EXPECT_THAT(operators_named("implement it and register it to the registry"), IsEmpty());
  EXPECT_EQ(operator_stem("aten.log_softmax.int"), "logsoftmax");
  EXPECT_EQ(operator_stem("conv"), "conv");
}

}  // namespace
}  // namespace assay
