#include "features/history/history.h"
#include "features/history/report/data.h"
#include "features/history/report/history_report.h"
#include "features/history/report/text.h"
#include "features/history/series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/report/html_page.h"
#include "assay/report/json_lines.h"
#include "assay/report/writer.h"
#include "assay/stats/thinning.h"

namespace assay::report {
namespace {

/// Points of the whole page; a browser draws that many at once.
constexpr std::size_t kMostHistoryPoints = 120'000;
constexpr std::size_t kLeastPerSeries = 200;
constexpr std::size_t kMostPerSeries = 4'000;
/// The newest points are all drawn.
constexpr std::size_t kNewest = 100;

/// Which of the shown points are drawn: those that stats::thinned keeps, the newest, and all that
/// the analysis names.
std::vector<std::size_t> drawn_points(const history::History& history,
                                      const history::AnalyzedSeries& one) {
  const auto& [series, analysis] = one;
  const std::size_t first = first_shown(history, series);
  const std::size_t most =
      std::clamp(kMostHistoryPoints / std::max<std::size_t>(history.series.size(), 1),
                 kLeastPerSeries, kMostPerSeries);
  std::vector<double> offsets(series.points.size() - first);
  std::transform(series.points.begin() + static_cast<std::ptrdiff_t>(first), series.points.end(),
                 offsets.begin(), [](const auto& point) { return point.offset; });
  std::vector<bool> is_named(series.points.size(), false);
  for (const std::size_t i : stats::thinned(offsets, most)) {
    is_named[first + i] = true;
  }
  for (const auto& step : analysis.steps) {
    for (std::size_t i = step.last_before; i <= step.first_after; ++i) {
      is_named[i] = true;
    }
  }
  for (const auto& segment : analysis.segments) {
    is_named[segment.first] = is_named[segment.end - 1] = true;
  }
  if (analysis.nomination) {
    is_named[analysis.nomination->point] = true;
  }
  std::vector<std::size_t> drawn;
  for (std::size_t i = first; i < series.points.size(); ++i) {
    if (is_named[i] || i + kNewest >= series.points.size()) {
      drawn.push_back(i);
    }
  }
  return drawn;
}

/// Commits that points name, each once: index by position.
class CommitTable {
 public:
  void add(std::int64_t position, const std::string& commit, std::int64_t unix_ns) {
    commits_.try_emplace(position, commit, unix_ns);
  }
  [[nodiscard]] OrderedJson json() {
    auto rows = OrderedJson::array();
    for (const auto& [position, commit] : commits_) {
      indices_[position] = rows.size();
      rows.push_back({short_commit(commit.first), commit.second / 1'000'000'000});
    }
    return rows;
  }
  [[nodiscard]] std::size_t index_of(std::int64_t position) const { return indices_.at(position); }

 private:
  std::map<std::int64_t, std::pair<std::string, std::int64_t>> commits_;
  std::map<std::int64_t, std::size_t> indices_;
};

double six_digits(double value) { return value == 0 ? 0 : std::stod(fmt::format("{:.6g}", value)); }

OrderedJson json_from_drawn(const history::AnalyzedSeries& one,
                            const std::vector<std::size_t>& drawn, const CommitTable& commits) {
  const auto& [series, analysis] = one;
  OrderedJson json = {{"at", OrderedJson::array()},
                      {"value", OrderedJson::array()},
                      {"change", OrderedJson::array()},
                      {"outlier", OrderedJson::array()}};
  const double base = series.has_reference ? 0 : analysis.segments.front().level;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const auto& point = series.points[drawn[i]];
    json["at"].push_back(commits.index_of(point.position));
    json["value"].push_back(six_digits(point.value));
    json["change"].push_back(six_digits(change_from_offset(series, point.offset - base)));
    if (std::ranges::binary_search(analysis.outliers, drawn[i])) {
      json["outlier"].push_back(i);
    }
  }
  return json;
}

std::size_t count_commits(const history::History& history) {
  std::vector<std::int64_t> positions;
  for (const auto& one : history.series) {
    for (std::size_t i = first_shown(history, one.series); i < one.series.points.size(); ++i) {
      positions.push_back(one.series.points[i].position);
    }
  }
  std::ranges::sort(positions);
  return static_cast<std::size_t>(std::ranges::unique(positions).begin() - positions.begin());
}

OrderedJson json_for_page(const history::History& history) {
  CommitTable commits;
  std::vector<std::vector<std::size_t>> drawn;
  for (const auto& one : history.series) {
    drawn.push_back(drawn_points(history, one));
    for (const std::size_t point : drawn.back()) {
      const auto& drawn_point = one.series.points[point];
      commits.add(drawn_point.position, drawn_point.commit, drawn_point.unix_ns);
    }
  }
  for (const auto& change : history.verified) {
    if (!change.commit.empty()) {
      commits.add(change.position, change.commit, change.unix_ns);
    }
  }
  auto document = json_without_series(history);
  document["commit_count"] = count_commits(history);
  document["commits"] = commits.json();
  for (auto& change : document["verified"]) {
    if (!change["commit"].get<std::string>().empty()) {
      change["at"] = commits.index_of(change["position"].get<std::int64_t>());
    }
  }
  auto& list = document["series"] = OrderedJson::array();
  for (std::size_t i = 0; i < history.series.size(); ++i) {
    const auto& one = history.series[i];
    auto json = json_from_series(history, one);
    json["drawn"] = json_from_drawn(one, drawn[i], commits);
    json["base"] =
        change_from_offset(one.series, one.series.has_reference || one.analysis.segments.empty()
                                           ? 0
                                           : one.analysis.segments.front().level);
    // A level that begins before what is shown begins at its edge.
    const auto place = first_shown(history, one.series);
    const auto& points = one.series.points;
    const auto first = place < points.size() ? points[place].position : 0;
    for (auto& segment : json["segments"]) {
      const auto from = segment["first_position"].get<std::int64_t>();
      segment["from"] = commits.index_of(std::max(from, first));
      segment["to"] = commits.index_of(segment["last_position"].get<std::int64_t>());
    }
    for (auto& step : json["steps"]) {
      step["at"] = commits.index_of(step["position"].get<std::int64_t>());
    }
    list.push_back(std::move(json));
  }
  return document;
}

}  // namespace

Status history_to_html(const history::History& history, const ReportStyle& style,
                       std::ostream& out) {
  out << html_page({.title = "history of " + history.source,
                    .data = dumped(json_for_page(history)),
                    .assets = history_page_assets()},
                   style);
  out.flush();
  return out ? Status() : fail(ErrorCode::kUnavailable, "the page could not be written");
}

}  // namespace assay::report
