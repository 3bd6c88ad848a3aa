#include "features/reduce/failure_groups.h"

#include "features/reduce/failure_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

using testing::HasSubstr;

ConformResult result(const std::string& name, ConformVerdict verdict,
                     const std::string& text = "") {
  return {.name = name,
          .operator_name = name.substr(0, name.find('/')),
          .recipe = "r/x",
          .engine = "e",
          .verdict = verdict,
          .stage = Stage::kLoad,
          .text = text};
}

/// The number after the last dash.
std::vector<double> size_of_name(const std::string& name) {
  return {std::stod(name.substr(name.rfind('-') + 1))};
}

TEST(FailureGroups, TakeTheSmallestOfWhatIsAlike) {
  const ConformReport report{
      .results = {result("aten.a/int8/a-3", ConformVerdict::kFailNumeric),
                  result("aten.a/int8/a-1", ConformVerdict::kFailNondeterministic),
                  result("aten.a/int8/a-2", ConformVerdict::kFailNumeric)}};
  const auto groups = group_failures(report, size_of_name);
  ASSERT_EQ(groups.size(), 1);
  EXPECT_EQ(groups[0].smallest->name, "aten.a/int8/a-1");
  EXPECT_EQ(groups[0].cases, 3);
}

TEST(FailureGroups, TellOperatorsSettingsAndErrorsApart) {
  ConformReport report{
      .results = {result("aten.a/int8/a-1", ConformVerdict::kLoadError, "/cache/1a/p.onnx: no x 1"),
                  result("aten.a/int8/a-2", ConformVerdict::kLoadError, "/cache/2b/p.onnx: no x 2"),
                  result("aten.a/int8/a-3", ConformVerdict::kLoadError, "no y"),
                  result("aten.a/int8/a-4", ConformVerdict::kCrashed),
                  result("aten.b/int8/b-1", ConformVerdict::kCrashed),
                  result("aten.b/int8/b-1", ConformVerdict::kCrashed)}};
  report.results.back().options = "threads=2";
  std::vector<std::size_t> cases;
  for (const auto& group : group_failures(report, size_of_name)) {
    cases.push_back(group.cases);
  }
  EXPECT_THAT(cases, testing::ElementsAre(2, 1, 1, 1, 1));
}

TEST(FailureGroups, LeaveOutWhatIsNoFaultOfTheBackendOrListedForGood) {
  ConformReport report{.results = {result("aten.a/int8/a-1", ConformVerdict::kPass),
                                   result("aten.a/int8/a-2", ConformVerdict::kUnsupported),
                                   result("aten.a/int8/a-3", ConformVerdict::kVacuous),
                                   result("aten.a/int8/a-4", ConformVerdict::kHarnessError),
                                   result("aten.a/int8/a-5", ConformVerdict::kNotRun),
                                   result("aten.a/int8/a-6", ConformVerdict::kFailDelegation),
                                   result("aten.a/int8/a-7", ConformVerdict::kLoadError)}};
  report.results.back().known = KnownGap::kUnsupported;
  EXPECT_THAT(group_failures(report, size_of_name), testing::IsEmpty());
}

TEST(FailureGroups, PreferCasesThatAreThere) {
  const ConformReport report{.results = {result("aten.a/int8/a-1", ConformVerdict::kCrashed),
                                         result("aten.a/int8/a-9", ConformVerdict::kCrashed)}};
  const auto groups = group_failures(report, [](const std::string& name) {
    return name.ends_with("-1") ? std::vector<double>() : size_of_name(name);
  });
  ASSERT_EQ(groups.size(), 1);
  EXPECT_EQ(groups[0].smallest->name, "aten.a/int8/a-9");
}

TEST(FailureIndex, TellsWhatWasReducedAndWhyTheRestWasNot) {
  const auto wrong = result("aten.a/int8/a-1", ConformVerdict::kFailNumeric);
  const auto crashed = result("aten.b/int8/b-1", ConformVerdict::kCrashed);
  const std::vector<ReducedFailure> failures = {
      {.group = {.smallest = &wrong, .cases = 4},
       .folder = folder_of_failure(wrong),
       .report = ReductionReport{.is_confirmed = true, .script = "shown", .is_shown = true}},
      {.group = {.smallest = &crashed}, .folder = folder_of_failure(crashed), .error = "no case"}};
  const auto folder = TemporaryFolder::make("assay-test").value();
  ASSERT_TRUE(write_failure_index(folder.path(), "run1", failures));
  const auto readme = read_file(folder.path() / "README.md").value();
  EXPECT_THAT(readme, HasSubstr("2 failures in 5 results: 1 reduced, 1 confirmed"));
  EXPECT_THAT(readme, HasSubstr("(r-x-e/aten.a-int8-a-1-fail_numeric/README.md)"));
  EXPECT_THAT(readme, HasSubstr("not reduced: no case"));
  const auto document = read_json_file(folder.path() / "failures.json").value();
  EXPECT_EQ(document.at("failures").size(), 2);
  EXPECT_EQ(document.at("failures")[0].at("is_shown"), true);
  EXPECT_EQ(document.at("failures")[1].at("error"), "no case");
}

}  // namespace
}  // namespace assay
