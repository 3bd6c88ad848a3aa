#include "features/site/operator_counts.h"

#include "features/site/index_rows.h"

#include <gtest/gtest.h>

namespace assay::site {
namespace {

TEST(OperatorCounts, SortVerdictsByWhatTheySayOfTheBackend) {
  const ConformRow row{.verdicts = {{"a/1", "pass"},
                                    {"a/2", "fail_numeric"},
                                    {"a/3", "fail_nondeterministic"},
                                    {"a/4", "timed_out"},
                                    {"a/5", "unsupported"},
                                    {"a/6", "load_error"},
                                    {"a/7", "vacuous"},
                                    {"a/8", "not_run"},
                                    {"alone", "crashed"}},
                       .operators = {{"a/1", "a"},
                                     {"a/2", "a"},
                                     {"a/3", "a"},
                                     {"a/4", "a"},
                                     {"a/5", "a"},
                                     {"a/6", "a"},
                                     {"a/7", "a"},
                                     {"a/8", "a"}}};
  const auto counts = counts_by_operator(row);
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts.at("a").judged, 7);
  EXPECT_EQ(counts.at("a").passed, 1);
  EXPECT_EQ(words_of_rest(counts.at("a")), "2 wrong, 1 died, 1 refused, 1 failed, 1 undecided");
  EXPECT_EQ(words_of_rest(counts.at("alone")), "1 died");
}

TEST(OperatorCounts, LeaveNothingToSayWhereAllPass) {
  const ConformRow row{.verdicts = {{"a/1", "pass"}, {"a/2", "pass"}},
                       .operators = {{"a/1", "a"}, {"a/2", "a"}}};
  EXPECT_EQ(words_of_rest(counts_by_operator(row).at("a")), "");
}

}  // namespace
}  // namespace assay::site
