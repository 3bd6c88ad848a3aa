#include "features/exchange/feature.h"

#include <algorithm>
#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/conformance.h"
#include "assay/report/testing/full_disk.h"
#include "assay/report/testing/sample_conformance.h"
#include "assay/report/testing/sample_summary.h"
#include "assay/report/writer.h"

/// tests/report/test_peer_formats.py checks the forms against the readers' own rules; here are the
/// numbers.
namespace assay {
namespace {

using report::sample_summary;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// Makes the formats known before the first test.
[[maybe_unused]] const bool kAreAdded = [] {
  add_report_formats(exchange::kFeature.report_formats);
  return true;
}();

std::string exported(std::string_view format, const RunSummary& summary) {
  std::ostringstream out;
  const auto status = write_report(format, summary, {}, out);
  EXPECT_TRUE(status) << status.error().message;
  return out.str();
}

Json document_from(std::string_view format, const RunSummary& summary) {
  return Json::parse(exported(format, summary));
}

/// The record of the second case, xnnpack-fp32, with the metric; null when there is none.
Json find_record(const Json& records, std::string_view backend, std::string_view metric) {
  for (const auto& record : records) {
    if (record.at("model").at("backend").get<std::string>().starts_with(backend) &&
        record.at("metric").at("name") == metric) {
      return record;
    }
  }
  return {};
}

TEST(PytorchHud, GivesItsOwnMetricsAndThoseOfExecuTorch) {
  auto summary = sample_summary();
  summary.cases[1].metrics["load_ns"] = {.value = 42e6, .count = 3};
  const auto records = document_from("pytorch-hud", summary);
  const auto steady = find_record(records, "executorch/xnnpack-fp32", "steady_ns");
  EXPECT_EQ(steady.at("metric").at("benchmark_values"), Json({11620000.0}));
  EXPECT_EQ(steady.at("metric").at("extra_info").at("unit"), "ns");
  EXPECT_EQ(steady.at("metric").at("extra_info").at("launches"), "3");
  EXPECT_EQ(steady.at("dependencies").at("executorch").at("version"), "1.5.1");
  EXPECT_EQ(steady.at("runners").at(0).at("cpu_count"), 2);
  EXPECT_EQ(steady.at("runners").at(0).at("avail_mem_in_gb"), 23);
  const auto load = find_record(records, "executorch/xnnpack-fp32", "model_load_time(ms)");
  EXPECT_EQ(load.at("metric").at("benchmark_values"), Json({42.0}));
  EXPECT_EQ(load.at("metric").at("extra_info").at("unit"), "ms");
}

TEST(PeerFormats, NameWhatTellsCasesOfOneRecipeApart) {
  auto summary = sample_summary();
  EXPECT_THAT(exported("github-benchmark", summary), Not(HasSubstr("@mine")));
  summary.cases.insert(summary.cases.end(), 4, summary.cases[1]);
  auto* others = &summary.cases[summary.cases.size() - 4];
  others[0].engine = "executorch@mine";
  others[1].device = "phone \"<5>\"";
  others[2].shapes = "1x3x96x96";
  others[3].options = "threads=4";
  for (const auto* format : {"pytorch-hud", "perfherder", "github-benchmark"}) {
    std::set<std::string> names;
    const auto document = document_from(format, summary);
    const auto& entries = document.is_array() ? document : document.at("suites");
    std::size_t steady = 0;
    for (const auto& entry : entries) {
      const auto text = entry.dump();
      const bool is_steady =
          document.is_object() || text.contains("/ steady\"") || text.contains("\"steady_ns\"");
      if (is_steady && text.contains("xnnpack-fp32")) {
        ++steady;
        names.insert(entry.contains("extraOptions") ? entry.at("extraOptions").dump()
                     : entry.contains("model")
                         ? entry.at("model").dump() + entry.at("runners").dump()
                         : entry.at("name").dump());
      }
    }
    EXPECT_GE(steady, 5U) << format;
    EXPECT_EQ(names.size(), steady) << format;
  }
}

TEST(PeerFormats, HaveNoTimesOfAnEmulator) {
  auto summary = sample_summary();
  for (auto& cell : summary.cases) {
    cell.timing = Timing::kEmulated;
    cell.metrics["aot_ns"] = {.value = 4e9};
    cell.metrics["program:tokens_per_s"] = {.value = 7};
  }
  const auto records = document_from("pytorch-hud", summary);
  EXPECT_TRUE(find_record(records, "executorch/xnnpack-fp32", "steady_ns").is_null());
  EXPECT_TRUE(find_record(records, "executorch/xnnpack-fp32", "program:tokens_per_s").is_null());
  EXPECT_FALSE(find_record(records, "executorch/xnnpack-fp32", "program_bytes").is_null());
  EXPECT_FALSE(find_record(records, "executorch/xnnpack-fp32", "aot_ns").is_null())
      << "the programs were made in their own time";
}

TEST(PytorchHud, MarksCasesThatFailed) {
  const auto records = document_from("pytorch-hud", sample_summary());
  const auto failed = std::ranges::count_if(records, [](const Json& record) {
    return record.at("metric").at("name") == "FAILURE_REPORT";
  });
  EXPECT_EQ(failed, 4);
  const auto wrong = find_record(records, "executorch/vulkan-fp16", "FAILURE_REPORT");
  EXPECT_EQ(wrong.at("metric").at("extra_info").at("cause"), "aot error");
}

TEST(PytorchHud, LeavesTheFieldsOfTheUploaderToIt) {
  for (const auto& record : document_from("pytorch-hud", sample_summary())) {
    for (const auto* field : {"timestamp", "repo", "head_branch", "head_sha", "workflow_id"}) {
      EXPECT_FALSE(record.contains(field)) << field;
    }
  }
}

TEST(Perfherder, HasTheHeadlineAsTheValueOfASuite) {
  const auto document = document_from("perfherder", sample_summary());
  EXPECT_EQ(document.at("framework").at("name"), "assay");
  const auto& suite = document.at("suites").at(1);
  EXPECT_EQ(suite.at("name"), "mobilenet_v2 executorch/xnnpack-fp32");
  EXPECT_EQ(suite.at("value"), 11.62);
  EXPECT_EQ(suite.at("unit"), "ms");
  EXPECT_EQ(suite.at("lowerIsBetter"), true);
  EXPECT_EQ(suite.at("extraOptions"), Json({"executorch", "1x3x224x224", "threads=1"}));
}

TEST(Perfherder, GivesTheLaunchesAndTheSenseOfEachMetric) {
  auto summary = sample_summary();
  summary.cases[1].metrics["delegate_count"] = {.value = 2, .count = 1};
  const auto document = document_from("perfherder", summary);
  Json by_name = Json::object();
  for (const auto& subtest : document.at("suites").at(1).at("subtests")) {
    by_name[subtest.at("name").get<std::string>()] = subtest;
  }
  EXPECT_EQ(by_name.at("steady").at("replicates").size(), 3U);
  EXPECT_EQ(by_name.at("delegated_ratio").at("lowerIsBetter"), false);
  EXPECT_EQ(by_name.at("float32_sqnr_db").at("unit"), "dB");
  EXPECT_EQ(by_name.at("peak_rss_bytes").at("unit"), "bytes");
  EXPECT_EQ(by_name.at("delegate_count").at("shouldAlert"), false);
}

TEST(Perfherder, KeepsSuitesOfLongNamesApart) {
  auto summary = sample_summary();
  auto& first = summary.cases[0];
  auto& second = summary.cases[1];
  first.model = second.model = std::string(100, 'm');
  first.recipe = second.recipe = "r";
  const auto suites = document_from("perfherder", summary).at("suites");
  EXPECT_NE(suites.at(0).at("name"), suites.at(1).at("name"));
  EXPECT_LE(suites.at(0).at("name").get<std::string>().size(), 82U);  // "…" is three bytes.
}

TEST(Perfherder, NamesTheFrameworkThatALabelGives) {
  auto summary = sample_summary();
  summary.run.labels["perfherder_framework"] = "mozperftest";
  EXPECT_EQ(document_from("perfherder", summary).at("framework").at("name"), "mozperftest");
}

TEST(Perfherder, IsOneLineForALog) {
  const auto text = exported("perfherder", sample_summary());
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_THAT(text, EndsWith("\n"));
}

Json find_entry(const Json& entries, std::string_view name) {
  const auto found =
      std::ranges::find_if(entries, [&](const Json& entry) { return entry.at("name") == name; });
  return found == entries.end() ? Json() : *found;
}

TEST(GithubBenchmark, GivesTheHalfWidthThatItsReaderUnderstands) {
  const auto summary = sample_summary();
  const auto& steady = summary.cases[1].metrics.at("steady_ns");
  const auto entry =
      find_entry(document_from("github-benchmark", summary),
                 "mobilenet_v2 executorch/xnnpack-fp32 1x3x224x224 threads=1 / steady");
  ASSERT_FALSE(entry.is_null());
  EXPECT_EQ(entry.at("value"), 11.62);
  EXPECT_EQ(entry.at("unit"), "ms");
  const auto farther = std::max(steady.value - *steady.low, *steady.high - steady.value) / 1e6;
  const auto range = entry.at("range").get<std::string>();
  ASSERT_TRUE(range.starts_with("± "));
  EXPECT_NEAR(std::stod(range.substr(std::string("± ").size())), farther, 1e-4);
  EXPECT_THAT(entry.at("extra").get<std::string>(), HasSubstr("75 % interval ["));
}

TEST(PeerFormats, TakeNoNumberOfAProgramForOneOfAssay) {
  auto summary = sample_summary();
  summary.cases = {summary.cases[1]};
  summary.cases[0].metrics["program:steady"] = {.value = 5e6, .unit = "ns"};
  const auto suite = document_from("perfherder", summary).at("suites").at(0);
  EXPECT_EQ(suite.at("value"), 11.62);
  EXPECT_THAT(suite.at("subtests").dump(), HasSubstr(R"("name":"program:steady")"));
  const auto text = exported("github-benchmark", summary);
  EXPECT_THAT(text, HasSubstr("/ steady\""));
  EXPECT_THAT(text, HasSubstr("/ program:steady\""));
}

TEST(GithubBenchmark, HasAFormatForEachDirection) {
  auto summary = sample_summary();
  summary.cases[0].metrics["program:tokens_per_s"] = {
      .value = 3, .unit = "1/s", .better = Better::kHigher};
  summary.cases[0].metrics["program:energy"] = {.value = 4, .unit = "J", .better = Better::kLower};
  const auto text = exported("github-benchmark", summary);
  EXPECT_THAT(text, Not(HasSubstr("delegated_ratio")));
  EXPECT_THAT(text, Not(HasSubstr("tokens_per_s")));
  EXPECT_THAT(text, HasSubstr("/ energy\""));
  const auto bigger = exported("github-benchmark-bigger", summary);
  EXPECT_THAT(bigger, HasSubstr("/ tokens_per_s\""));
  EXPECT_THAT(bigger, Not(HasSubstr("energy")));
  EXPECT_THAT(bigger, Not(HasSubstr("/ steady\"")));
}

TEST(ExecutorchSuite, CountsOperatorsOfAManifest) {
  auto summary = sample_summary();
  summary.cases[0].manifest = {
      {"program",
       {{"operators_delegated", {{"aten.relu.default", 1}, {"aten.conv.default", 2}}},
        {"operators_left", {{{"name", "aten.cdist"}, {"count", 1}, {"reason", nullptr}}}}}}};
  const auto text = exported("executorch-suite", summary);
  EXPECT_THAT(text, HasSubstr("{'aten.conv.default': 2, 'aten.relu.default': 1}"));
  EXPECT_THAT(text, HasSubstr("{'aten.cdist': 1}"));
}

TEST(ExecutorchSuite, NamesTheStepThatFailed) {
  auto summary = sample_summary();
  const auto result = [&summary](Outcome outcome, Stage stage) {
    auto& cell = summary.cases[0];
    cell.outcome = outcome;
    cell.stage = stage;
    cell.verdict = Verdict::kFail;
    const auto text = exported("executorch-suite", summary);
    std::smatch found;
    EXPECT_TRUE(
        std::regex_search(text, found, std::regex(",((Pass|Fail|Skip),[^,]*),(True|False),")));
    return found.str(1);
  };
  EXPECT_EQ(result(Outcome::kAotError, Stage::kQuantize), "Fail,Quantization Failed");
  EXPECT_EQ(result(Outcome::kAotError, Stage::kExport), "Skip,");
  EXPECT_EQ(result(Outcome::kAotError, Stage::kLower), "Fail,Lowering Failed");
  EXPECT_EQ(result(Outcome::kLoadError, Stage::kLoad), "Fail,PTE Load Failed");
  EXPECT_EQ(result(Outcome::kCrashed, Stage::kFirst), "Fail,PTE Run Failed");
  EXPECT_EQ(result(Outcome::kHarnessError, Stage::kFirst), "Skip,");
  EXPECT_EQ(result(Outcome::kCompleted, Stage::kDone), "Fail,Unknown Failure");
}

/// Metrics of one case, as a time and as the rate that is its reciprocal.
TEST(PeerFormats, TurnTheDirectionOfAProgramsMetric) {
  auto summary = sample_summary();
  summary.cases.resize(1);
  summary.cases.front().metrics = {
      {"program:step", {.value = 4e6, .count = 3, .unit = "ns", .better = Better::kLower}},
      {"program:rate", {.value = 250, .count = 3, .unit = "1/s", .better = Better::kHigher}}};
  const auto perfherder = Json::parse(exported("perfherder", summary));
  const auto subtest = [&perfherder](std::string_view name) {
    const auto& all = perfherder.at("suites").at(0).at("subtests");
    return *std::ranges::find_if(all, [&](const Json& one) { return one.at("name") == name; });
  };
  EXPECT_TRUE(subtest("step").at("lowerIsBetter").get<bool>());
  EXPECT_FALSE(subtest("rate").at("lowerIsBetter").get<bool>());
  EXPECT_EQ(subtest("step").contains("shouldAlert"), subtest("rate").contains("shouldAlert"));
  const auto charted = [&summary](std::string_view format, std::string_view name) {
    return exported(format, summary).contains("/ " + std::string(name) + "\"");
  };
  EXPECT_TRUE(charted("github-benchmark", "step"));
  EXPECT_FALSE(charted("github-benchmark", "rate"));
  EXPECT_TRUE(charted("github-benchmark-bigger", "rate"));
  EXPECT_FALSE(charted("github-benchmark-bigger", "step"));
  for (const auto* format : {"console", "md", "csv", "json", "junit", "fai-pep", "pytorch-hud"}) {
    const auto text = exported(format, summary);
    EXPECT_THAT(text, HasSubstr("step")) << format;
    EXPECT_THAT(text, HasSubstr("rate")) << format;
  }
}

TEST(PeerFormats, GiveTheErrorOfTheWorstOutput) {
  const auto summary = report::summary_with_output_errors(0.25, 0.125);
  for (const auto* format : {"perfherder", "pytorch-hud"}) {
    const auto text = exported(format, summary);
    EXPECT_THAT(text, HasSubstr("0.25")) << format;
    EXPECT_THAT(text, Not(HasSubstr("0.125"))) << format;
  }
}

TEST(PeerFormats, WriteARunWithoutCases) {
  for (const auto& format : exchange::kFeature.report_formats) {
    EXPECT_FALSE(exported(format.name, report::empty_summary()).empty()) << format.name;
  }
}

TEST(PeerFormats, TellAFullDisk) {
  for (const auto& format : exchange::kFeature.report_formats) {
    report::FullDisk disk(2);  // Less than an empty list takes.
    std::ostream out(&disk);
    const auto status = write_report(format.name, sample_summary(), {}, out);
    ASSERT_FALSE(status) << format.name;
    EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  }
}

TEST(PeerFormats, HaveNamesOfTheirOwnAndNoReportOfConformance) {
  std::set<std::string_view> names;
  for (const auto& format : exchange::kFeature.report_formats) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_TRUE(format.extension.starts_with('.')) << format.name;
    std::ostringstream out;
    EXPECT_EQ(write_conformance(format.name, report::sample_conformance(), {}, out).error().code,
              ErrorCode::kUnsupported)
        << format.name;
  }
  EXPECT_EQ(names,
            (std::set<std::string_view>{"fai-pep", "pytorch-hud", "executorch-suite", "perfherder",
                                        "github-benchmark", "github-benchmark-bigger"}));
}

}  // namespace
}  // namespace assay
