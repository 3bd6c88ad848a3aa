#include "features/conform/operator_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

TEST(OperatorNames, AreThoseOfTheSuite) {
  EXPECT_THAT(operator_names(), Contains("aten.add.Tensor"));
}

TEST(OperatorNames, AdviseOnAPatternThatFitsNone) {
  EXPECT_THAT(advice_on_pattern("add"),
              AllOf(HasSubstr("no operator matches 'add'"), HasSubstr("aten.add.Tensor"),
                    HasSubstr("'aten.add*'")));
  EXPECT_THAT(advice_on_pattern("conv*"), HasSubstr("aten.conv"));
  EXPECT_THAT(advice_on_pattern("aten.ad.Tensor"), HasSubstr("aten.add.Tensor"));
  EXPECT_THAT(advice_on_pattern("qqqqqq"), HasSubstr("write a full name"));
}

TEST(OperatorNames, LeaveWhatMayFitToTheToolchain) {
  for (const char* pattern : {"aten.add.Tensor", "aten.conv*", "*", "*add*", "aten.softmax/f*",
                              "aten.from_a_newer_torch_altogether.default"}) {
    EXPECT_EQ(advice_on_pattern(pattern), "") << pattern;
  }
}

}  // namespace
}  // namespace assay
