#include "assay/campaign/case_launch.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

using testing::ElementsAre;

TEST(CaseOrder, GivesLibrariesToTheirEngine) {
  const std::vector<std::string> given{"/all.so", "executorch=/own.so", "folder/a=b.so",
                                       "openvino=other.so"};
  EXPECT_THAT(libraries_of_engine(given, "executorch"),
              ElementsAre("/all.so", "/own.so", "folder/a=b.so"));
  EXPECT_THAT(libraries_of_engine(given, "torch"), ElementsAre("/all.so", "folder/a=b.so"));
}

TEST(CaseLaunch, FindsNoOptionInADescriptionThatIsNone) {
  EngineBuild build{.details = {{"options", {{{"name", "threads"}, {"type", "integer"}}}}}};
  EXPECT_TRUE(has_option(build, "threads"));
  EXPECT_FALSE(has_option(build, "pinning"));
  for (const Json& options : {Json{"threads"}, Json("threads"), Json{Json{{"name", 3}}}, Json(3)}) {
    build.details = {{"options", options}};
    EXPECT_FALSE(has_option(build, "threads")) << options.dump();
  }
}

TEST(CaseLaunch, MayAnswerAnEighthOfTheMemoryAndAGibibyteAtLeast) {
  constexpr std::int64_t kGib = 1LL << 30;
  EXPECT_EQ(most_output_bytes(0), kGib);
  EXPECT_EQ(most_output_bytes(4 * kGib), kGib);
  EXPECT_EQ(most_output_bytes(64 * kGib), 8 * kGib);
  EXPECT_EQ(most_output_bytes(4096 * kGib), 16 * kGib);
}

TEST(CaseLaunch, LastsAsLongAsAllThatIsWithinItsBudget) {
  const MeasurePlan plan{.time_budget_ns = 1'000};
  EXPECT_EQ(longest_pass_ns(Pass::kTiming, plan), 1'000);
  EXPECT_EQ(longest_pass_ns(Pass::kMemory, plan), 2'000) << "leaks by load and by inference";
  EXPECT_EQ(longest_pass_ns(Pass::kProfile, plan), 2'000) << "spans, then counters";
  const MeasurePlan endless{.time_budget_ns = std::numeric_limits<std::int64_t>::max()};
  EXPECT_GT(longest_pass_ns(Pass::kMemory, endless), 0);
}

}  // namespace
}  // namespace assay
