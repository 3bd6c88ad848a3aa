#include "assay/campaign/callgrind_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kFile = R"(# callgrind format
version: 1
creator: callgrind-3.19.0
cmd: runner
positions: line
events: Ir

ob=(1) /usr/bin/runner
fl=(1) main.cpp
fn=(1) main
10 100
+2 5
cfn=(2) work(int)
calls=3 20
* 3000

fn=(2)
20 2000
fi=(2) inlined.h
+1 900
fe=(1)
-1 100

summary: 3105
totals: 3105
)";

TEST(CallgrindFile, GivesEachFunctionItsOwnCostsWithoutThoseOfItsCalls) {
  const auto costs = callgrind_costs_from_text(kFile);
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_EQ(costs->tool, "callgrind-3.19.0");
  EXPECT_EQ(costs->total, 3105);
  EXPECT_THAT(costs->own_by_function, ElementsAre(Pair("main", 105), Pair("work(int)", 3000)));
}

TEST(CallgrindFile, NamesTheLibraryOfAFunctionWithoutAName) {
  const auto costs = callgrind_costs_from_text(
      "events: Ir\nob=(1) /lib/libkernels.so\nfn=(1) 0x10\n0 5\nfn=(2) known\n0 7\ncob=(2) "
      "/lib/b.so\ncfn=(3) ???\ncalls=1 0\n0 9\nob=(2)\nfn=(3)\n0 9\nsummary: 21\n");
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_THAT(costs->own_by_function, ElementsAre(Pair("0x10 in libkernels.so", 5),
                                                  Pair("??? in b.so", 9), Pair("known", 7)));
}

TEST(CallgrindFile, RefusesWhatIsNoneOrCountsSomethingElse) {
  EXPECT_EQ(callgrind_costs_from_text("hello\n").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(callgrind_costs_from_text("events: Dr Ir\n").error().code, ErrorCode::kUnsupported);
  const auto broken = callgrind_costs_from_text("events: Ir\nfn=(1) f\n1 x\nsummary: 5\n");
  EXPECT_EQ(broken.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(broken.error().message, HasSubstr("line 3"));
}

TEST(CallgrindFile, RefusesCostsThatNoProgramHas) {
  const auto refusal = [](const char* costs) {
    return callgrind_costs_from_text(std::string("events: Ir\nfn=(1) f\n") + costs).error();
  };
  EXPECT_EQ(refusal("1 9223372036854775807\n1 1\nsummary: 5\n").code, ErrorCode::kCorrupt);
  EXPECT_THAT(refusal("1 9223372036854775807\n1 1\nsummary: 5\n").message, HasSubstr("line 4"));
  EXPECT_EQ(refusal("1 -1\nsummary: 5\n").code, ErrorCode::kCorrupt);
  EXPECT_EQ(refusal("1 1\nsummary: -5\n").code, ErrorCode::kCorrupt);
}

TEST(CallgrindFile, SkipsAddressesAndFurtherEvents) {
  const auto costs = callgrind_costs_from_text(
      "positions: instr line\nevents: Ir Dr\nfn=f\n0x10 7 40 2\n+4 +1 2 1\nsummary: 42 3\n");
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_THAT(costs->own_by_function, ElementsAre(Pair("f", 42)));
}

}  // namespace
}  // namespace assay
