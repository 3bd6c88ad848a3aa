#include "assay/campaign/option_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/case.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<EngineBuild> kBuilds = {
    {.name = "a",
     .label = "1",
     .details = {{"options",
                  {{{"name", "threads"}, {"type", "int"}, {"minimum", 1}, {"maximum", 8}},
                   {{"name", "mode"}, {"type", "string"}, {"values", {"fast", "slow"}}}}}}},
    {.name = "b",
     .label = "1",
     .details = {{"options", {{{"name", "provider"}, {"type", "string"}}}}}},
    {.name = "old", .label = "1"}};

std::string complaint_about(const std::string& build, const Json& options) {
  Case cell;
  cell.engine_build = build;
  cell.options = options;
  const auto status = check_engine_options(std::vector{cell}, kBuilds);
  return status ? "" : status.error().message;
}

TEST(EngineOptions, AreRightWhereTheEngineDescribesThem) {
  EXPECT_EQ(complaint_about("a@1", {{"threads", 2}, {"mode", "slow"}}), "");
  EXPECT_EQ(complaint_about("b@1", {{"provider", "X"}}), "");
}

TEST(EngineOptions, OfAMistypedNameAreRefusedWithTheNearestOne) {
  EXPECT_EQ(complaint_about("a@1", {{"thread", 2}}),
            "engine a@1: unknown option 'thread'; did you mean 'threads'?");
}

TEST(EngineOptions, OfAWrongTypeOrOutOfRangeAreRefused) {
  EXPECT_THAT(complaint_about("a@1", {{"threads", "two"}}), HasSubstr("takes int, not \"two\""));
  EXPECT_THAT(complaint_about("a@1", {{"threads", 9}}), HasSubstr("takes 1 to 8, not 9"));
  EXPECT_THAT(complaint_about("a@1", {{"mode", "fats"}}), HasSubstr("takes one of"));
}

TEST(EngineOptions, OfAnotherEngineAreRefusedWithItsName) {
  EXPECT_THAT(complaint_about("a@1", {{"provider", "X"}}),
              AllOf(HasSubstr("engine a@1: unknown option 'provider'"),
                    HasSubstr("b has one of that name")));
}

TEST(EngineOptions, AreLeftToTheRunnerOfABuildThatDescribesNone) {
  EXPECT_EQ(complaint_about("old@1", {{"anything", 1}}), "");
  EXPECT_EQ(complaint_about("absent@1", {{"anything", 1}}), "");
}

}  // namespace
}  // namespace assay
