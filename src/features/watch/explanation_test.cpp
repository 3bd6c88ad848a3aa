#include "features/watch/explanation.h"

#include "features/watch/revision_runner.h"

#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/record/profile.h"
#include "assay/record/summary.h"

namespace assay::watch {
namespace {

CaseSummary row_of(const char* engine, const InstructionReport& report) {
  CaseSummary row;
  row.case_key = "case";
  row.engine = engine;
  row.instructions = report;
  return row;
}

InstructionReport report_of(double conv, double dense) {
  return {.instructions_per_inference = conv + dense,
          .functions = {{.name = "conv", .instructions = conv},
                        {.name = "dense", .instructions = dense}}};
}

const BuildPair kPair{.a = {.engine = "toy", .label = "old"},
                      .b = {.engine = "toy", .label = "new"},
                      .case_key = "case"};

TEST(ExplainByFunctions, NamesTheOneThatChanged) {
  RunSummary summary;
  summary.cases = {row_of("toy@new", report_of(1200, 1000)),
                   row_of("toy@old", report_of(1000, 1000))};
  const auto explained = explain_by_functions(find_rows(summary, kPair));
  EXPECT_EQ(explained.at("before"), 2000);
  EXPECT_EQ(explained.at("after"), 2200);
  ASSERT_EQ(explained.at("functions").size(), 1U) << "what changed by nothing explains nothing";
  EXPECT_EQ(explained.at("functions")[0].at("name"), "conv");
  EXPECT_EQ(explained.at("functions")[0].at("change"), 200);
  EXPECT_EQ(explained.at("functions")[0].at("share"), 1);
}

TEST(ExplainByFunctions, SaysWhyThereIsNoCount) {
  RunSummary summary;
  summary.cases = {row_of("toy@old", report_of(1, 1)),
                   row_of("toy@new", {.unavailable = "no valgrind"})};
  EXPECT_EQ(explain_by_functions(find_rows(summary, kPair)).at("unavailable"), "no valgrind");
  summary.cases.pop_back();
  EXPECT_TRUE(explain_by_functions(find_rows(summary, kPair)).contains("unavailable"));
  EXPECT_EQ(explain_by_operators(find_rows(summary, kPair)), Json::object());
}

}  // namespace
}  // namespace assay::watch
