#include "assay/report/shared_text.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/report/testing/sample_summary.h"

namespace assay::report {
namespace {

using testing::SizeIs;

/// Cases that completed, with names of their own.
std::vector<CaseSummary> some_cases(std::size_t count) {
  std::vector<CaseSummary> cases(count);
  for (std::size_t i = 0; i < count; ++i) {
    cases[i].outcome = Outcome::kCompleted;
    cases[i].verdict = Verdict::kPass;
    cases[i].timing = Timing::kSteady;
    cases[i].label = fmt::format("case {}", i);
  }
  return cases;
}

TEST(Notes, StandOnceWithTheCasesThatHaveThem) {
  const auto summary = sample_summary();
  const auto notes = shared_notes(summary.cases);
  const auto profiler =
      std::ranges::find(notes, "the profiler of XNNPACK cannot be switched off", &SharedNote::text);
  ASSERT_NE(profiler, notes.end());
  EXPECT_EQ(profiler->cases.size(), 2U);
}

TEST(Notes, NameWhomTheyConcernBriefly) {
  auto cases = some_cases(6);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].recipe = i % 2 == 0 ? "even" : "odd";
  }
  const auto concerned = [&](const std::vector<std::size_t>& indices) {
    SharedNote note;
    for (const auto index : indices) {
      note.cases.push_back(&cases[index]);
    }
    return concerned_by(note, cases);
  };
  EXPECT_EQ(concerned({0, 1, 2, 3, 4, 5}), "all cases");
  EXPECT_EQ(concerned({0, 3}), "case 0, case 3");
  EXPECT_EQ(concerned({0, 2, 4}), "all of even");
  EXPECT_EQ(concerned({0, 1, 2}), "3 of 6 cases");
}

TEST(Notes, OfWhichOneHasASignInPlaceOfANumberStayApart) {
  auto cases = some_cases(4);
  cases[0].notes = {"layer # took 5 steps"};
  for (const std::size_t i : {1U, 2U, 3U}) {
    cases[i].notes = {fmt::format("layer {} took 5 steps", i)};
  }
  EXPECT_THAT(shared_notes(cases), SizeIs(4));
}

TEST(Notes, ThatDifferByNumbersAreOneWithRangesWhereTheyAreMany) {
  auto cases = some_cases(4);
  const std::vector<std::string> shares{"5.8", "12", "9", "30.5"};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].notes = {fmt::format("{} of 5 launches lost {} %, up to {} ms", i + 1, shares[i], i)};
  }
  const auto notes = shared_notes(cases);
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].text, "1 to 4 of 5 launches lost 5.8 to 30.5 %, up to 3 ms");
  EXPECT_THAT(notes[0].cases, SizeIs(4));

  cases.pop_back();
  EXPECT_THAT(shared_notes(cases), SizeIs(3));
}

TEST(Notes, MayBeOneLongNumber) {
  auto cases = some_cases(4);
  const std::string digits(60'000, '7');
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].notes = {fmt::format("{}{} of x86_64, v1.2.3a, 1.5x", digits, i)};
  }
  const auto notes = shared_notes(cases);
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].text, fmt::format("{0}0 to {0}3 of x86_64, v1.2.3a, 1.5x", digits));
  EXPECT_THAT(notes[0].cases, SizeIs(4));
}

}  // namespace
}  // namespace assay::report
