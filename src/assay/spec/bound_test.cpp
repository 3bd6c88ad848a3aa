#include "assay/spec/bound.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::HasSubstr;

TEST(Bound, ReadsRelationValueAndUnit) {
  const auto ratio = bound_from_text(">=0.99", "ratio").value();
  EXPECT_EQ(ratio.relation, Bound::Relation::kAtLeast);
  EXPECT_EQ(ratio.value, 0.99);
  EXPECT_EQ(bound_from_text("<= 12ms", "ns").value().value, 12e6);
  EXPECT_EQ(bound_from_text("<14MB", "bytes").value().value, 14e6);
  EXPECT_EQ(bound_from_text("<100 kB", "bytes").value().value, 1e5);
  EXPECT_EQ(bound_from_text("<=0", "bytes").value().value, 0);
  EXPECT_EQ(bound_from_text(">-3.5", "dB").value().value, -3.5);
}

TEST(Bound, KnowsItsEdges) {
  const auto is_met = [](std::string_view text, double measured) {
    return bound_from_text(text, "").value().is_met_by(measured);
  };
  EXPECT_TRUE(is_met("<=1", 1));
  EXPECT_FALSE(is_met("<1", 1));
  EXPECT_TRUE(is_met(">=1", 1));
  EXPECT_FALSE(is_met(">1", 1));
  EXPECT_TRUE(is_met("==0", 0));
  for (const auto* text : {"<1", "<=1", ">1", ">=1", "==1"}) {
    EXPECT_FALSE(is_met(text, std::nan(""))) << text;
  }
}

TEST(Bound, RefusesWhatIsNoneWithAnExample) {
  for (const auto* text : {"", "5", "=5", "<=", ">=x", "<=5ms", "<=5 apples", "<=1e999"}) {
    const auto bound = bound_from_text(text, "ratio");
    ASSERT_FALSE(bound.has_value()) << text;
    EXPECT_THAT(bound.error().message, HasSubstr(">=0.99"));
  }
  EXPECT_THAT(bound_from_text("<=12", "ns").error().message, HasSubstr("<=12ms"));
  EXPECT_FALSE(bound_from_text("<=12ms", "bytes").has_value());
}

TEST(Bound, SaysThatItsUnitIsMissing) {
  for (const auto* unit : {"ns", "bytes"}) {
    EXPECT_THAT(bound_from_text("<= 12", unit).error().message,
                HasSubstr("'<= 12' lacks the unit of its value"));
  }
}

TEST(Bound, RefusesWhatIsNoFiniteNumber) {
  for (const char* text : {">=nan", "<=inf", ">-inf", "<1e308GB", "<1e999"}) {
    EXPECT_FALSE(bound_from_text(text, "bytes")) << text;
  }
}

}  // namespace
}  // namespace assay
