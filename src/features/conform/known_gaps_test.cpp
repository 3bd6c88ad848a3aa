#include "features/conform/known_gaps.h"

#include "features/conform/conform_case.h"
#include "features/conform/known_gaps_file.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json whole_document() {
  return Json::parse(R"({
    "schema": "assay/known_gaps/1", "recipe": "executorch/portable",
    "unsupported": [{"match": {"operator": "aten.fft*", "dtype": "bfloat16"}, "reason": "never"}],
    "undelegated": [{"match": {"operator": "aten.cat*"}, "reason": "costs more than it saves"}],
    "expected_failures": [{"case": "aten.add/float32/0", "verdict": "fail_numeric",
                        "reason": "off by one", "issue": "https://example.org/1"}],
    "relaxed_bounds": [{"match": {"operator": "aten.tanh"}, "error_bound_ratio": 8,
                "reason": "a polynomial", "processor": "avx512_bf16"}]})");
}

KnownGaps gaps() { return known_gaps_from_json(whole_document(), "test").value(); }

std::string complaint_after(const char* pointer, const Json& value) {
  auto document = whole_document();
  document[Json::json_pointer(pointer)] = value;
  const auto read = known_gaps_from_json(document, "gaps.json");
  return read ? "accepted" : read.error().message;
}

ConformResult result_of(const std::string& name, ConformVerdict verdict,
                        const std::string& op = "aten.add", const std::string& dtype = "float32") {
  return {.name = name,
          .operator_name = op,
          .dtype = dtype,
          .recipe = "executorch/portable",
          .verdict = verdict,
          .text = "as seen\nwith a log"};
}

std::vector<ConformResult> applied(std::vector<ConformResult> results) {
  apply_known_gaps(gaps(), {}, results);
  return results;
}

TEST(KnownGaps, AreReadAndWrittenAlike) {
  EXPECT_EQ(document_from_known_gaps(gaps()), whole_document());
  const auto folder = TemporaryFolder::make("assay-test").value();
  ASSERT_TRUE(write_known_gaps(folder.path(), gaps()));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "executorch-portable.json"));
  const auto again = read_known_gaps(folder.path(), "executorch/portable");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(document_from_known_gaps(*again), whole_document());
  EXPECT_THAT(read_known_gaps(folder.path(), "executorch/other").value().expected_failures,
              IsEmpty());
}

TEST(KnownGaps, SayWhereAFileIsWrongAndWhatWasMeant) {
  EXPECT_THAT(
      complaint_after("/expected_failures/0/verdict", "fail_numerc"),
      HasSubstr("expected_failures[0]: 'fail_numerc' is not the verdict of a failure; did you mean "
                "'fail_numeric'?"));
  EXPECT_THAT(complaint_after("/expected_failures/0/verdict", "pass"),
              HasSubstr("not the verdict of a"));
  EXPECT_THAT(complaint_after("/unsupported/0/match/operater", "x"),
              HasSubstr("did you mean 'operator'?"));
  EXPECT_THAT(complaint_after("/unsupported/0/match", Json::object()), HasSubstr("everything"));
  EXPECT_THAT(complaint_after("/unsupported/0/reason", ""), HasSubstr("\"reason\""));
  EXPECT_THAT(complaint_after("/relaxed_bounds/0/error_bound_ratio", 0.5), HasSubstr("above 1"));
  EXPECT_THAT(complaint_after("/schema", "assay/known_gaps/9"), HasSubstr("known_gaps/1"));
  EXPECT_THAT(complaint_after("/unsuported", Json::array()), HasSubstr("'unsupported'"));
  auto document = whole_document();
  document["expected_failures"].push_back(document["expected_failures"][0]);
  EXPECT_THAT(known_gaps_from_json(document, "x").error().message, HasSubstr("duplicate"));
}

TEST(KnownGaps, RefuseAFileOfAnotherRecipe) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  ASSERT_TRUE(write_known_gaps(folder.path(), gaps()));
  std::filesystem::rename(folder.path() / "executorch-portable.json",
                          folder.path() / "executorch-xnnpack.json");
  EXPECT_EQ(read_known_gaps(folder.path(), "executorch/xnnpack").error().code,
            ErrorCode::kInvalidArgument);
}

TEST(Ratchet, TellsANewFailureFromAKnownOne) {
  const auto results = applied({
      result_of("aten.add/float32/0", ConformVerdict::kFailNumeric),
      result_of("aten.add/float32/1", ConformVerdict::kFailNumeric),
      result_of("aten.fft/bfloat16/0", ConformVerdict::kRunError, "aten.fft_r2c", "bfloat16"),
      result_of("aten.fft/bfloat16/1", ConformVerdict::kCrashed, "aten.fft_r2c", "bfloat16"),
      result_of("aten.fft/bfloat16/2", ConformVerdict::kFailNumeric, "aten.fft_r2c", "bfloat16"),
      result_of("aten.fft/bfloat16/3", ConformVerdict::kPass, "aten.fft_r2c", "bfloat16"),
      result_of("aten.mul/float32/0", ConformVerdict::kUnsupported, "aten.mul"),
      result_of("aten.mul/float32/1", ConformVerdict::kPass, "aten.mul"),
  });
  std::vector<KnownGap> known;
  for (const auto& result : results) {
    known.push_back(result.known);
  }
  EXPECT_THAT(known,
              ElementsAre(KnownGap::kKnownFailure, KnownGap::kNewFailure, KnownGap::kUnsupported,
                          KnownGap::kNewFailure, KnownGap::kNewFailure, KnownGap::kNone,
                          KnownGap::kNewFailure, KnownGap::kNone));
  EXPECT_EQ(results[0].issue, "https://example.org/1");
  EXPECT_EQ(results[2].known_reason, "never");
}

TEST(Ratchet, AKnownFailureWithAnotherVerdictIsNew) {
  EXPECT_EQ(applied({result_of("aten.add/float32/0", ConformVerdict::kCrashed)})[0].known,
            KnownGap::kNewFailure);
}

TEST(Ratchet, AListedCaseThatPassesMustBeStruckOff) {
  const auto results = applied({result_of("aten.add/float32/0", ConformVerdict::kPass)});
  EXPECT_EQ(results[0].known, KnownGap::kUnexpectedPass);
  const auto stale = find_stale_gaps(gaps(), {}, results);
  ASSERT_EQ(stale.size(), 1U);
  EXPECT_EQ(stale[0].entry, "aten.add/float32/0");
  EXPECT_THAT(updated_gaps(gaps(), {}, results).expected_failures, IsEmpty());
}

TEST(Ratchet, OneThatFailsWithSomeOptionsOnlyStays) {
  auto with_two = result_of("aten.add/float32/0", ConformVerdict::kFailNumeric);
  with_two.options = "threads=2";
  const auto results = applied({result_of("aten.add/float32/0", ConformVerdict::kPass), with_two});
  EXPECT_EQ(results[0].known, KnownGap::kNone);
  EXPECT_EQ(results[1].known, KnownGap::kKnownFailure);
  EXPECT_THAT(find_stale_gaps(gaps(), {}, results), IsEmpty());
}

TEST(Ratchet, WhatDiffersBetweenExecutionsMayBeWrongInAllOfThem) {
  auto lists = gaps();
  std::vector<ConformResult> results = {
      result_of("aten.add/float32/0", ConformVerdict::kFailNondeterministic)};
  apply_known_gaps(lists, {}, results);
  EXPECT_EQ(results[0].known, KnownGap::kNewFailure) << "it is listed as wrong";
  lists.expected_failures[0].verdict = ConformVerdict::kFailNondeterministic;
  results[0].verdict = ConformVerdict::kFailNumeric;
  apply_known_gaps(lists, {}, results);
  EXPECT_EQ(results[0].known, KnownGap::kKnownFailure);
}

TEST(Ratchet, AKnownFailureMayBeAPatternEachCaseOfWhichFails) {
  auto lists = gaps();
  lists.expected_failures[0].case_name = "aten.add/*/0";
  std::vector<ConformResult> results = {
      result_of("aten.add/float32/0", ConformVerdict::kFailNumeric),
      result_of("aten.add/int8/0", ConformVerdict::kFailNumeric),
      result_of("aten.add/int8/1", ConformVerdict::kFailNumeric)};
  apply_known_gaps(lists, {}, results);
  EXPECT_EQ(results[0].known, KnownGap::kKnownFailure);
  EXPECT_EQ(results[1].known, KnownGap::kKnownFailure);
  EXPECT_EQ(results[2].known, KnownGap::kNewFailure);
  EXPECT_THAT(find_stale_gaps(lists, {}, results), IsEmpty());

  results[1].verdict = ConformVerdict::kPass;
  apply_known_gaps(lists, {}, results);
  EXPECT_EQ(results[1].known, KnownGap::kUnexpectedPass);
  const auto stale = find_stale_gaps(lists, {}, results);
  ASSERT_EQ(stale.size(), 1);
  EXPECT_EQ(stale[0].why, "aten.add/int8/0 passes");
  const auto updated = updated_gaps(lists, {}, {results[0], results[1]});
  ASSERT_EQ(updated.expected_failures.size(), 1);
  EXPECT_EQ(updated.expected_failures[0].case_name, "aten.add/float32/0");
  EXPECT_EQ(updated.expected_failures[0].reason, "off by one");
}

TEST(Ratchet, APatternIsStaleWhenAllThatItMeansPasses) {
  const auto pass = result_of("f/0", ConformVerdict::kPass, "aten.fft_r2c", "bfloat16");
  const auto fails = result_of("f/1", ConformVerdict::kRunError, "aten.fft_r2c", "bfloat16");
  EXPECT_EQ(find_stale_gaps(gaps(), {}, {pass}).size(), 1U);
  EXPECT_THAT(find_stale_gaps(gaps(), {}, {pass, fails}), IsEmpty());
  EXPECT_THAT(updated_gaps(gaps(), {}, {pass}).unsupported, IsEmpty());
}

TEST(Ratchet, NoPatternIsStaleWhereCasesWereLeftOut) {
  const auto pass = result_of("f/0", ConformVerdict::kPass, "aten.fft_r2c", "bfloat16");
  const auto listed = result_of("aten.add/float32/0", ConformVerdict::kPass);
  auto lists = gaps();
  const GapContext context{.is_narrowed = true};
  const auto stale = find_stale_gaps(lists, context, {pass, listed});
  ASSERT_EQ(stale.size(), 1U);
  EXPECT_EQ(stale[0].entry, "aten.add/float32/0");
  EXPECT_EQ(updated_gaps(lists, context, {pass}).unsupported.size(), gaps().unsupported.size());
}

TEST(Ratchet, WhatIsNotDelegatedIsExcusedByAListOfItsOwn) {
  auto lists = gaps();
  lists.undelegated = {{.match = {.operator_name = "aten.sin*"}, .reason = "no such node"}};
  lists.expected_failures.push_back({.case_name = "aten.tan/float32/0",
                                     .verdict = ConformVerdict::kFailDelegation,
                                     .reason = "should be"});
  std::vector<ConformResult> results = {
      result_of("aten.sin/float32/0", ConformVerdict::kFailDelegation, "aten.sin"),
      result_of("aten.sin/float32/1", ConformVerdict::kRunError, "aten.sin"),
      result_of("aten.fft/bfloat16/0", ConformVerdict::kFailDelegation, "aten.fft_r2c", "bfloat16"),
      result_of("aten.tan/float32/0", ConformVerdict::kFailDelegation, "aten.tan"),
  };
  apply_known_gaps(lists, {.is_delegation_required = true}, results);
  EXPECT_EQ(results[0].known, KnownGap::kUnsupported);
  EXPECT_EQ(results[0].known_reason, "no such node");
  EXPECT_EQ(results[1].known, KnownGap::kNewFailure);
  EXPECT_EQ(results[2].known, KnownGap::kNewFailure);
  EXPECT_EQ(results[3].known, KnownGap::kKnownFailure);
}

TEST(Ratchet, SaysNothingOfDelegationThatNobodyAskedFor) {
  KnownGaps lists{.recipe = "executorch/portable",
                  .undelegated = {{.match = {.operator_name = "aten.sin*"}, .reason = "never"}},
                  .expected_failures = {{.case_name = "aten.tan/float32/0",
                                         .verdict = ConformVerdict::kFailDelegation,
                                         .reason = "should be"}}};
  std::vector<ConformResult> results = {
      result_of("aten.sin/float32/0", ConformVerdict::kPass, "aten.sin"),
      result_of("aten.tan/float32/0", ConformVerdict::kPass, "aten.tan"),
  };
  apply_known_gaps(lists, {}, results);
  EXPECT_EQ(results[1].known, KnownGap::kNone);
  EXPECT_THAT(find_stale_gaps(lists, {}, results), IsEmpty());
  const GapContext context{.is_delegation_required = true};
  apply_known_gaps(lists, context, results);
  EXPECT_EQ(results[1].known, KnownGap::kUnexpectedPass);
  EXPECT_EQ(find_stale_gaps(lists, context, results).size(), 2U);
  EXPECT_THAT(updated_gaps(lists, context, results).undelegated, IsEmpty());
}

TEST(Ratchet, WhatWasNotRunStaysAsItIs) {
  const auto results = applied({result_of("aten.add/float32/0", ConformVerdict::kNotRun)});
  EXPECT_EQ(results[0].known, KnownGap::kNone);
  EXPECT_EQ(document_from_known_gaps(updated_gaps(gaps(), {}, results)), whole_document());
  EXPECT_EQ(document_from_known_gaps(updated_gaps(gaps(), {}, {})), whole_document());
}

TEST(Ratchet, AnUpdateListsNewFailuresOfTheBackendOnly) {
  const auto results = applied({
      result_of("aten.mul/float32/0", ConformVerdict::kCrashed, "aten.mul"),
      result_of("aten.mul/float32/1", ConformVerdict::kVacuous, "aten.mul"),
      result_of("aten.mul/float32/2", ConformVerdict::kHarnessError, "aten.mul"),
      result_of("aten.add/float32/0", ConformVerdict::kRunError),
  });
  const auto updated = updated_gaps(gaps(), {}, results);
  ASSERT_EQ(updated.expected_failures.size(), 2U);
  EXPECT_EQ(updated.expected_failures[0].case_name, "aten.add/float32/0");
  EXPECT_EQ(updated.expected_failures[0].verdict, ConformVerdict::kRunError);
  EXPECT_EQ(updated.expected_failures[0].reason, "off by one");  // People's words stay.
  EXPECT_EQ(updated.expected_failures[1].reason, "as seen");
  // And what was updated holds.
  auto again = results;
  apply_known_gaps(updated, {}, again);
  EXPECT_EQ(again[0].known, KnownGap::kKnownFailure);
  EXPECT_EQ(again[3].known, KnownGap::kKnownFailure);
}

TEST(Ratchet, AnUpdateNamesFilesWithoutTheirFolders) {
  auto failing = result_of("aten.mul/float32/0", ConformVerdict::kLoadError, "aten.mul");
  failing.text = "cannot load '/root/cache/ab/p.onnx': see /tmp/x.log or 1/2 of it\nmore";
  const auto updated = updated_gaps(gaps(), {}, applied({failing}));
  ASSERT_EQ(updated.expected_failures.size(), 2U);
  EXPECT_EQ(updated.expected_failures[1].reason, "cannot load 'p.onnx': see x.log or 1/2 of it");
}

TEST(Ratchet, EntriesForOtherProcessorsSayNothing) {
  auto listed = gaps();
  GapContext context;
  listed.expected_failures.front().processor = "avx512_bf16";
  const auto known_of = [&](ConformVerdict verdict) {
    std::vector<ConformResult> results = {result_of("aten.add/float32/0", verdict)};
    apply_known_gaps(listed, context, results);
    return results.front().known;
  };
  const ConformCase tanh = {.name = "aten.tanh/float32/0", .operator_name = "aten.tanh"};
  context.processor_flags = {"avx2"};
  EXPECT_EQ(known_of(ConformVerdict::kFailNumeric), KnownGap::kNewFailure);
  EXPECT_EQ(known_of(ConformVerdict::kPass), KnownGap::kNone);
  const std::vector<ConformResult> passed = {
      result_of("aten.add/float32/0", ConformVerdict::kPass)};
  EXPECT_THAT(find_stale_gaps(listed, context, passed), IsEmpty());
  EXPECT_FALSE(find_relaxed_bound(listed, context, tanh));
  context.processor_flags = {"avx2", "avx512_bf16"};
  EXPECT_EQ(known_of(ConformVerdict::kFailNumeric), KnownGap::kKnownFailure);
  EXPECT_EQ(known_of(ConformVerdict::kPass), KnownGap::kUnexpectedPass);
  EXPECT_EQ(find_stale_gaps(listed, context, passed).size(), 1U);
  EXPECT_TRUE(find_relaxed_bound(listed, context, tanh));
}

TEST(Ratchet, AnEntryForAnotherProcessorHidesNothing) {
  auto listed = gaps();
  listed.expected_failures = {
      {"aten.add/bfloat16/a", ConformVerdict::kCrashed, "dies", "", "avx512_bf16"},
      {"aten.add/bfloat16/a", ConformVerdict::kLoadError, "no kernel", "", "amx_tile"},
      {"aten.add/*", ConformVerdict::kFailNumeric, "off by one", "", ""}};
  const auto reason_with = [&](std::vector<std::string> flags, ConformVerdict verdict) {
    std::vector<ConformResult> results = {result_of("aten.add/bfloat16/a", verdict)};
    apply_known_gaps(listed, {.processor_flags = std::move(flags)}, results);
    return results.front().known_reason;
  };
  EXPECT_EQ(reason_with({"avx2"}, ConformVerdict::kFailNumeric), "off by one");
  EXPECT_EQ(reason_with({"avx2"}, ConformVerdict::kCrashed), "");
  EXPECT_EQ(reason_with({"avx512_bf16"}, ConformVerdict::kCrashed), "dies");
  EXPECT_EQ(reason_with({"amx_tile"}, ConformVerdict::kLoadError), "no kernel");
  const auto again = known_gaps_from_json(document_from_known_gaps(listed), "gaps.json");
  ASSERT_TRUE(again) << again.error().message;

  const GapContext here{.processor_flags = {"amx_tile"}};
  std::vector<ConformResult> results = {result_of("aten.add/bfloat16/a", ConformVerdict::kPass)};
  apply_known_gaps(listed, here, results);
  const auto left = updated_gaps(listed, here, results).expected_failures;
  ASSERT_EQ(left.size(), 1U) << "the pattern and the entry of this processor go";
  EXPECT_EQ(left[0].processor, "avx512_bf16");
  results[0].verdict = ConformVerdict::kRunError;
  apply_known_gaps(listed, here, results);
  const auto changed = updated_gaps(listed, here, results).expected_failures;
  ASSERT_EQ(changed.size(), 3U);
  EXPECT_EQ(std::ranges::count(changed, ConformVerdict::kCrashed, &KnownFailure::verdict), 1);
  EXPECT_EQ(std::ranges::count(changed, ConformVerdict::kRunError, &KnownFailure::verdict), 1);
}

TEST(Ratchet, ADrawnCaseMakesNoEntryStale) {
  auto lists = gaps();
  lists.expected_failures[0].case_name = "aten.add/float32/*";
  const GapContext context{.is_narrowed = true, .is_drawn = true};
  std::vector<ConformResult> results = {
      result_of("aten.add/float32/fuzz-1", ConformVerdict::kPass)};
  apply_known_gaps(lists, context, results);
  EXPECT_EQ(results[0].known, KnownGap::kNone);
  EXPECT_THAT(find_stale_gaps(lists, context, results), IsEmpty());
  EXPECT_EQ(updated_gaps(lists, context, results).expected_failures.size(), 1U);
}

TEST(Ratchet, AnUpdateTakesAnErrorThatIsOneLongWord) {
  auto failing = result_of("aten.mul/float32/0", ConformVerdict::kLoadError, "aten.mul");
  failing.text = "/" + std::string(1'000'000, 'x');
  const auto updated = updated_gaps(gaps(), {}, applied({failing}));
  ASSERT_EQ(updated.expected_failures.size(), 2U);
  EXPECT_EQ(updated.expected_failures[1].reason.size(), 200U);
}

TEST(Ratchet, LeavesOtherRecipesAlone) {
  auto other = result_of("aten.add/float32/0", ConformVerdict::kFailNumeric);
  other.recipe = "executorch/xnnpack-fp32";
  EXPECT_EQ(applied({other})[0].known, KnownGap::kNone);
}

}  // namespace
}  // namespace assay
