#include "features/exchange/formats.h"
#include "features/exchange/peer_metric.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/format.h"
#include "assay/report/json_lines.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

constexpr const char* kFrameworkLabel = "perfherder_framework";
constexpr double kLargestValue = 1e12;           // Beyond it the reader refuses the file.
constexpr std::size_t kMostOptionColumns = 100;  // For each of `extraOptions`.
constexpr std::size_t kMostNameColumns = 80;     // A column of Treeherder's database.
constexpr std::size_t kKeyColumns = 12;

/// "mobilenet_v2 executorch/xnnpack-int8"; a name that is too long ends in the case's key.
std::string suite_name(const CaseSummary& cell) {
  auto name = printable(cell.model + (cell.recipe.empty() ? "" : " " + cell.recipe));
  if (display_width(name) <= kMostNameColumns) {
    return name;
  }
  return shortened(name, kMostNameColumns - kKeyColumns - 1) + " " +
         cell.case_key.substr(0, kKeyColumns);
}

/// Options that tell the series of a suite apart, each once and in order.
std::vector<std::string> extra_options(const SeriesMarks& marks, const CaseSummary& cell) {
  std::vector<std::string> options;
  for (const auto& text : {cell.engine.substr(0, cell.engine.find('@')), cell.shapes, cell.options,
                           cell.device == "local" ? std::string() : cell.device, marks.of(cell)}) {
    auto option = shortened(printable(text), kMostOptionColumns);
    if (!option.empty() && std::ranges::find(options, option) == options.end()) {
      options.push_back(std::move(option));
    }
  }
  return options;
}

void add_sense(const PeerMetric& metric, OrderedJson& entry) {
  if (!metric.unit.empty()) {
    entry["unit"] = metric.unit;
  }
  entry["lowerIsBetter"] = metric.better != Better::kHigher;
  if (metric.better == Better::kNone) {
    entry["shouldAlert"] = false;
  }
}

OrderedJson subtest_of(const PeerMetric& metric, const CaseSummary& cell) {
  OrderedJson subtest;
  subtest["name"] = metric.name.substr(0, kMostNameColumns);
  subtest["value"] = metric.value;
  add_sense(metric, subtest);
  if (metric.name == "steady" && !cell.launches.empty()) {
    subtest["replicates"] = launch_medians_ms(cell);
  }
  return subtest;
}

/// The headline is the suite's own value, so that Perfherder alerts once a case.
OrderedJson suite_of(const SeriesMarks& marks, const CaseSummary& cell) {
  OrderedJson suite;
  suite["name"] = suite_name(cell);
  suite["extraOptions"] = extra_options(marks, cell);
  suite["subtests"] = OrderedJson::array();
  auto metrics = peer_metrics_of(cell);
  std::ranges::move(peer_errors_of(cell), std::back_inserter(metrics));
  for (const auto& metric : metrics) {
    if (std::abs(metric.value) > kLargestValue) {
      continue;
    }
    if (metric.name == "steady") {
      suite["value"] = metric.value;
      add_sense(metric, suite);
    }
    suite["subtests"].push_back(subtest_of(metric, cell));
  }
  return suite;
}

OrderedJson perfherder_document(const RunSummary& summary) {
  const auto& labels = summary.run.labels;
  const auto framework = labels.find(kFrameworkLabel);
  OrderedJson document;
  document["framework"] = {{"name", framework == labels.end() ? "assay" : framework->second}};
  document["suites"] = OrderedJson::array();
  const SeriesMarks marks(summary);
  for (const auto& cell : summary.cases) {
    auto suite = suite_of(marks, cell);
    if (!suite["subtests"].empty()) {
      document["suites"].push_back(std::move(suite));
    }
  }
  return document;
}

}  // namespace

/// One line, so that `PERFHERDER_DATA: ` can stand before it in a log. Source: Treeherder,
/// schemas/performance-artifact.json and treeherder/etl/perf.py.
Status write_perfherder(const RunSummary& summary, const ReportStyle& /*style*/,
                        std::ostream& out) {
  out << dumped(perfherder_document(summary)) << "\n";
  return {};
}

}  // namespace assay::report
