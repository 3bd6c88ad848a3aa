#include "assay/engines/command/printed_values.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engines/command/command_program.h"
#include "assay/engines/command/operator_events.h"
#include "assay/record/metric.h"

namespace assay::command {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Result<CommandProgram> program_with(const Json& keys) {
  const auto folder = TemporaryFolder::make("command").value();
  Json json = {{"argv", {"true"}}};
  json.update(keys);
  EXPECT_TRUE(write_file_atomically(folder.path() / "p.command.json", json.dump()));
  return read_command_program(folder.path() / "p.command.json");
}

Result<PrintedValues> values_of(const Json& keys, const std::string& printed) {
  return values_from_printed(program_with(keys).value(), printed);
}

Json metric_of(const Json& keys) { return {{"metrics", {{"p99", keys}}}}; }

TEST(PrintedMetrics, AreKeptInTheirOwnUnit) {
  const Json p99 = {{"pattern", "p99 ([0-9.]+) us"}, {"unit", "us"}, {"per", "launch"}};
  const auto values = values_of(metric_of(p99), "p50 1 us, p99 2.5 us\n").value();
  ASSERT_THAT(values.metrics, SizeIs(1));
  EXPECT_EQ(values.metrics[0].name, "p99");
  EXPECT_EQ(values.metrics[0].unit, "ns");
  EXPECT_EQ(values.metrics[0].value, 2500);
  EXPECT_EQ(values.metrics[0].better, Better::kLower);
}

TEST(PrintedMetrics, AreBetterAsTheirUnitSaysUnlessTheProgramDoes) {
  Json rate = {{"pattern", "([0-9.]+) tok/s"}, {"unit", "1/s"}};
  EXPECT_EQ(values_of(metric_of(rate), "9 tok/s")->metrics[0].better, Better::kHigher);
  rate["better"] = "lower";
  EXPECT_EQ(values_of(metric_of(rate), "9 tok/s")->metrics[0].better, Better::kLower);
}

TEST(PrintedMetrics, OfSeveralMatchesTakeTheOneThatIsAskedFor) {
  Json avg = {{"pattern", "avg=([0-9.]+)"}};
  const std::string printed = "count=1 avg=9\ncount=50 avg=3\ncount=5 avg=4\n";
  EXPECT_THAT(values_of(metric_of(avg), printed).error().message, HasSubstr("\"take\""));
  for (const auto& [take, value] : {std::pair("first", 9), {"last", 4}, {"min", 3}, {"max", 9}}) {
    avg["take"] = take;
    EXPECT_EQ(values_of(metric_of(avg), printed)->metrics[0].value, value) << take;
  }
}

TEST(PrintedMetrics, ThatAreOptionalMayBeAbsent) {
  const Json deviation = {{"pattern", "std=([0-9.]+)"}, {"optional", true}};
  EXPECT_THAT(values_of(metric_of(deviation), "avg=3")->metrics, SizeIs(0));
  EXPECT_THAT(values_of(metric_of(deviation), "std=3")->metrics, SizeIs(1));
}

TEST(PrintedMetrics, ThatWereNotPrintedOrAreNoNumbersAreErrors) {
  const Json any = {{"pattern", "p99 (\\S+)"}};
  const auto absent = values_of(metric_of(any), "nothing");
  EXPECT_EQ(absent.error().code, ErrorCode::kEngine);
  EXPECT_THAT(absent.error().message, HasSubstr("no \"p99\""));
  EXPECT_THAT(values_of(metric_of(any), "p99 1,5").error().message, HasSubstr("'1,5'"));
  EXPECT_FALSE(values_of(metric_of(any), "p99 inf"));
}

TEST(PrintedOperators, AreFoundByNamedOrNumberedGroups) {
  const std::string printed = "op conv took 2.5 ms\nop relu took 0.5 ms\nop conv took 3.5 ms\n";
  for (const auto* pattern :
       {"op (\\w+) took ([0-9.]+) ms", "(o)p (?<name>\\w+) took (?<time>[0-9.]+) ms"}) {
    const auto values = values_of({{"operator_pattern", pattern}}, printed).value();
    const auto report = profile_from_printed(values, 2);
    ASSERT_THAT(report.events, SizeIs(2)) << pattern;
    EXPECT_EQ(report.events[0].name, "conv");
    EXPECT_EQ(report.events[0].count, 2);
    EXPECT_EQ(report.events[0].total_ns, 6'000'000);
    EXPECT_EQ(report.events[0].min_ns, 2'500'000);
    EXPECT_EQ(report.events[0].median_ns, 3'000'000);
    EXPECT_EQ(report.events[1].name, "relu");
    EXPECT_EQ(report.iterations, 2);
  }
}

TEST(PrintedOperators, HaveTheMethodFromTheTimesOfInferences) {
  const auto values = values_of({{"operator_pattern", "op (\\w+) ([0-9.]+)"},
                                 {"time_pattern", "all ([0-9.]+)"},
                                 {"operator_unit", "us"}},
                                "op a 1\nall 4\nop a 2\nall 6\n")
                          .value();
  const auto report = profile_from_printed(values, 2);
  EXPECT_EQ(report.method_median_ns, 5'000'000);
  EXPECT_EQ(report.events[0].total_ns, 3'000);
}

std::string complaint_about(const Json& keys) {
  const auto program = program_with(keys);
  EXPECT_FALSE(program) << keys;
  return program ? std::string() : program.error().message;
}

TEST(ProgramDocument, NamesTheKeyThatIsWrong) {
  EXPECT_THAT(complaint_about(metric_of({{"pattern", "x ([0-9]+"}})),
              HasSubstr("\"metrics.p99.pattern\""));
  EXPECT_THAT(complaint_about(metric_of({{"pattern", "x"}})), HasSubstr("has no group"));
  EXPECT_THAT(complaint_about(metric_of({{"pattern", "(x)"}, {"unit", "msec"}})),
              HasSubstr("\"metrics.p99.unit\": unknown unit 'msec'"));
  EXPECT_THAT(complaint_about(metric_of({{"pattern", "(x)"}, {"take", "all"}})),
              HasSubstr("\"take\" is one of only, first, last, min, max"));
  EXPECT_THAT(complaint_about(metric_of({{"patern", "(x)"}})), HasSubstr("\"pattern\""));
  EXPECT_THAT(complaint_about(metric_of({{"pattern", "(x)"}, {"units", "ms"}})),
              HasSubstr("did you mean 'unit'"));
  EXPECT_THAT(complaint_about(metric_of({{"pattern", "(x)"}, {"per", "inference"}})),
              HasSubstr("\"time_pattern\""));
  EXPECT_THAT(complaint_about({{"metrics", {{"p 99", {{"pattern", "(x)"}}}}}}),
              HasSubstr("\"metrics.p 99\""));
  EXPECT_THAT(complaint_about({{"operator_pattern", "(x)"}}), HasSubstr("two groups"));
  EXPECT_THAT(complaint_about({{"operator_pattern", "(?<name>x)(y)"}}), HasSubstr("(?<time>…)"));
  EXPECT_THAT(complaint_about({{"observer", "my observer"}}), HasSubstr("without spaces"));
  EXPECT_THAT(complaint_about({{"steps", {{"true"}}}}), HasSubstr("one of them"));
  EXPECT_THAT(complaint_about({{"places", {{"graph", {{"md4", ""}}}}}}),
              HasSubstr("\"places.graph\": unknown key 'md4'"));
  EXPECT_THAT(complaint_about({{"pause_s", -1}}), HasSubstr("\"pause_s\""));
  EXPECT_THAT(complaint_about({{"reads", "all"}}), HasSubstr("stdout, stderr, both"));
  EXPECT_THAT(complaint_about({{"operator_patern", "(x)"}}),
              HasSubstr("did you mean 'operator_pattern'"));
}

}  // namespace
}  // namespace assay::command
