#include "features/reduce/check.h"

#include "features/reduce/finding.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

using testing::HasSubstr;

ReduceFinding finding(ConformVerdict verdict, const std::string& text = "",
                      Stage stage = Stage::kDone) {
  return {.verdict = verdict, .stage = stage, .text = text};
}

TEST(ReduceCheck, IsReadFromAWord) {
  EXPECT_EQ(check_from_text("not-delegated")->kind, ReduceKind::kNotDelegated);
  const auto slower = check_from_text("slower-than=executorch/portable:1.5").value();
  EXPECT_EQ(slower.kind, ReduceKind::kSlower);
  EXPECT_EQ(slower.recipe, "executorch/portable");
  EXPECT_EQ(slower.ratio, 1.5);
}

TEST(ReduceCheck, RefusesWhatItDoesNotKnow) {
  for (const auto* text : {"numbers", "slower-than", "slower-than=x", "slower-than=x:0.5",
                           "slower-than=:2", "slower-than=x:2x", "crash=3", ""}) {
    EXPECT_EQ(check_from_text(text).error().code, ErrorCode::kInvalidArgument) << text;
  }
  EXPECT_THAT(check_from_text("numbers").error().message, HasSubstr("slower-than=RECIPE:FACTOR"));
}

TEST(ReduceCheck, SameIsTheVerdictAndForErrorsItsPlaceAndText) {
  const ReduceCheck same;
  const auto first = finding(ConformVerdict::kLoadError, "no kernel for 'a' (0x14)", Stage::kLoad);
  EXPECT_TRUE(fails(same, first, first));
  EXPECT_TRUE(fails(same, first,
                    finding(ConformVerdict::kLoadError, "no kernel for 'b' (0x14)", Stage::kLoad)));
  EXPECT_FALSE(
      fails(same, first, finding(ConformVerdict::kLoadError, "out of range", Stage::kLoad)));
  EXPECT_FALSE(fails(same, first, finding(ConformVerdict::kLoadError, first.text, Stage::kStart)));
  EXPECT_FALSE(fails(same, first, finding(ConformVerdict::kRunError, first.text, Stage::kLoad)));
  const auto crash = finding(ConformVerdict::kCrashed, "SIGSEGV");
  EXPECT_FALSE(fails(same, crash, finding(ConformVerdict::kCrashed, "SIGABRT")));
  EXPECT_FALSE(fails(same, crash, finding(ConformVerdict::kCrashed, "SIGSEGV", Stage::kLower)));
  EXPECT_TRUE(fails(same, crash, finding(ConformVerdict::kCrashed, "killed by SIGSEGV")));
}

TEST(ReduceCheck, AnApostropheOpensNoQuotation) {
  EXPECT_NE(core_of_text("lowering failed: couldn't find a kernel of 'a'"),
            core_of_text("lowering failed: couldn't infer the shape of 'a'"));
  EXPECT_NE(core_of_text("torch's exporter to ONNX failed at a: no rule for 'x'"),
            core_of_text("torch's exporter to ONNX failed at a: a size is negative"));
  EXPECT_EQ(core_of_text("couldn't find 'conv 1' of 12"), core_of_text("couldn't find 'b' of 7"));
  EXPECT_NE(core_of_text("error 0x12 in load"), core_of_text("error 0x20 in load"));
}

TEST(ReduceCheck, WrongIsWrongWhetherOrNotItRepeats) {
  const auto first = finding(ConformVerdict::kFailNondeterministic);
  EXPECT_TRUE(fails({}, first, finding(ConformVerdict::kFailNumeric)));
  EXPECT_FALSE(fails({}, first, finding(ConformVerdict::kPass)));
}

TEST(ReduceCheck, WhatIsWrongInAnotherWayIsAnotherFailure) {
  const std::vector<std::string> ways = {
      "sample 2, output 0: the shape is 4, the reference has 3",
      "y: error_bound_ratio inf (<= 1), sample 0, element [3]: nan, expected 2 ± 0.1",
      "y: error_bound_ratio inf (<= 1), sample 0, element [3]: 127, expected -128 ± 0",
      "y: error_bound_ratio 3.5 (<= 1), sample 0, element [1, 2]: 1.5, expected 2 ± 0.1",
  };
  for (const auto& one : ways) {
    for (const auto& other : ways) {
      EXPECT_EQ(fails({}, finding(ConformVerdict::kFailNumeric, one),
                      finding(ConformVerdict::kFailNumeric, other)),
                one == other)
          << one << '\n'
          << other;
    }
  }
  const auto infinite = finding(
      ConformVerdict::kFailNumeric,
      "y: error_bound_ratio inf (<= 1), sample 1, element [0]: 3.40282347e+38, expected inf ± 0; "
      "z: error_bound_ratio 2 (<= 1), sample 0, element [0]: 4, expected 3 ± 0.5");
  EXPECT_TRUE(fails({}, infinite, finding(ConformVerdict::kFailNumeric, ways[1])));
}

TEST(ReduceCheck, AGraphsNumbersMayBeThoseOfAnOperatorWithoutRounding) {
  // A graph is compared with a tolerance, the call that it is reduced to against element bounds.
  const auto graph = finding(ConformVerdict::kFailNumeric, "y: relative_l2_error 0.2 (<= 0.0001)");
  const auto of_call = [](const char* element) {
    return finding(
        ConformVerdict::kFailNumeric,
        fmt::format("y: error_bound_ratio 9 (<= 1), sample 0, element [3]: {}", element));
  };
  EXPECT_TRUE(fails({}, graph, of_call("4, expected 6 ± 0")));
  EXPECT_TRUE(fails({}, graph, of_call("4, expected 6 ± 0.1")));
  EXPECT_TRUE(fails({}, graph, graph));
  EXPECT_FALSE(fails({}, graph, of_call("nan, expected 6 ± 0.1")));
  EXPECT_FALSE(fails({}, graph, finding(ConformVerdict::kFailNumeric, "y: the shape is 4")));
}

TEST(ReduceCheck, APassFailsNoCheckButThoseOfItsOwn) {
  const auto pass = finding(ConformVerdict::kPass);
  EXPECT_FALSE(fails({}, pass, pass));
  auto partial = pass;
  partial.delegation = Delegation::kPartial;
  EXPECT_TRUE(fails({.kind = ReduceKind::kNotDelegated}, pass, partial));
  EXPECT_FALSE(fails({.kind = ReduceKind::kNotDelegated}, pass, pass));
  auto slow = pass;
  slow.time_ratio = 1.6;
  EXPECT_TRUE(fails({.kind = ReduceKind::kSlower, .ratio = 1.5}, pass, slow));
  EXPECT_FALSE(fails({.kind = ReduceKind::kSlower, .ratio = 1.7}, pass, slow));
  EXPECT_FALSE(fails({.kind = ReduceKind::kSlower, .ratio = 1.5}, pass, pass));
}

}  // namespace
}  // namespace assay
