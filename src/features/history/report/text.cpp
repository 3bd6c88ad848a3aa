#include "features/history/report/text.h"

#include "features/history/analysis.h"
#include "features/history/history.h"
#include "features/history/segment.h"
#include "features/history/series.h"
#include "features/history/verified_change.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/text.h"
#include "assay/record/metric.h"
#include "assay/record/metric_scale.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

constexpr std::size_t kShortCommit = 10;

double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string_view block_for(double share) {
  constexpr auto kBlocks =
      std::to_array<std::string_view>({"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"});
  const auto level = static_cast<std::size_t>(share * static_cast<double>(kBlocks.size()));
  return kBlocks[std::min(level, kBlocks.size() - 1)];
}

}  // namespace

std::string short_commit(const std::string& commit) {
  // A tag or the name of a nightly build differs from others at its end.
  const bool is_hash = commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  return printable(is_hash ? std::string_view(commit).substr(0, kShortCommit) : commit);
}

std::string date_of_point(const history::Point& point) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  return point.unix_ns == 0
             ? ""
             : fmt::format("{:%Y-%m-%d}",
                           fmt::gmtime(static_cast<std::time_t>(point.unix_ns / kSecondNs)));
}

double change_from_offset(const history::Series& series, double offset) {
  return change_from_offset(series.is_ratio ? MetricScale::kRatio : MetricScale::kDifference,
                            offset);
}

std::string text_of_change(const history::Series& series, double offset) {
  const double change = change_from_offset(series, offset);
  return series.is_ratio ? text_from_change(change) + " %"
                         : fmt::format("{}{} {}", change > 0 ? "+" : "", text_from_number(change),
                                       printable(series.unit));
}

std::string text_of_changes(const history::Series& series, double low, double high) {
  const auto finite = [&](double end) {
    return std::isfinite(end) ? std::optional(change_from_offset(series, end)) : std::nullopt;
  };
  if (series.is_ratio) {
    return text_from_changes(finite(low), finite(high));
  }
  const auto text = [&](double end) {
    return std::isfinite(end) ? text_from_number(end) : std::string(kNotMeasured);
  };
  return fmt::format("[{}, {}]", text(low), text(high));
}

int direction_of_change(const history::Series& series, double offset) {
  return direction_of_change(series.better, offset);
}

std::string text_of_allowed(const history::Series& series, const history::Nomination& nomination) {
  return text_of_change(series, std::copysign(nomination.allowed, nomination.change));
}

std::string_view word_of_direction(int direction) {
  return direction > 0 ? "worse" : direction < 0 ? "better" : "changed";
}

std::string commits_of_step(const history::Series& series, const history::Step& step) {
  const auto& points = series.points;
  const auto& before = points[step.last_before];
  const auto& after = points[step.first_after];
  const auto count = after.position - before.position;
  return count == 1 ? ""
                    : fmt::format("one of the {} commits after {} up to {}", count,
                                  short_commit(before.commit), short_commit(after.commit));
}

bool is_about(const history::VerifiedChange& change, const history::History& history,
              const history::Series& series) {
  return change.is_on(series) && change.metric == series.metric && change.position >= history.since;
}

bool is_verified(const history::Step& step, const history::History& history,
                 const history::Series& series) {
  return std::ranges::any_of(history.verified, [&](const history::VerifiedChange& change) {
    return is_about(change, history, series) && change.state != kRejected &&
           series.points[step.last_before].position < change.position &&
           change.position <= series.points[step.first_after].position;
  });
}

bool is_explained(const history::Nomination& nomination, const history::History& history,
                  const history::Series& series) {
  return std::ranges::any_of(history.verified, [&](const history::VerifiedChange& change) {
    return change.is_on(series) && change.state != kRejected &&
           series.points[nomination.last_before].position < change.position &&
           change.position <= series.points[nomination.point].position;
  });
}

bool may_be_of(const history::VerifiedChange& change, const history::History& history,
               std::int64_t position) {
  if (!change.commit.empty() || position >= change.position) {
    return position == change.position;
  }
  const auto before = history::position_of_commit(history, change.last_before);
  return before && *before < position;
}

std::string text_of_verified(const history::VerifiedChange& change, bool has_colour) {
  const auto where =
      change.commit.empty()
          ? fmt::format("between {} and {}", short_commit(change.last_before),
                        short_commit(change.first_after))
          : fmt::format("at {} {}", short_commit(change.commit), printable(change.subject));
  return fmt::format("{}: {} {}", change.state,
                     coloured(printable(change.effect), change.is_worse ? "31" : "32", has_colour),
                     where);
}

std::size_t first_shown(const history::History& history, const history::Series& series) {
  const auto found =
      std::ranges::lower_bound(series.points, history.since, {}, &history::Point::position);
  return static_cast<std::size_t>(found - series.points.begin());
}

Sparkline sparkline_of(const history::AnalyzedSeries& one, std::size_t first, std::size_t columns) {
  const auto& points = one.series.points;
  const std::size_t count = points.size() - std::min(first, points.size());
  columns = std::min(columns, count);
  const auto column_of = [&](std::size_t point) { return (point - first) * columns / count; };
  std::vector<std::vector<double>> cells(columns);
  auto outlier = std::ranges::lower_bound(one.analysis.outliers, first);
  for (std::size_t i = first; i < points.size(); ++i) {
    if (outlier != one.analysis.outliers.end() && *outlier == i) {
      ++outlier;
      continue;
    }
    cells[column_of(i)].push_back(points[i].offset);
  }
  std::vector<std::optional<double>> heights;
  heights.reserve(cells.size());
  for (auto& cell : cells) {
    heights.push_back(cell.empty() ? std::nullopt : std::optional(median_in_place(cell)));
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low = kInfinity;
  double high = -kInfinity;
  for (const auto& height : heights) {
    low = std::min(low, height.value_or(low));
    high = std::max(high, height.value_or(high));
  }
  Sparkline line{.blocks = {}, .marks = std::string(columns, ' ')};
  for (const auto& height : heights) {
    line.blocks += height ? block_for(high > low ? (*height - low) / (high - low) : 0) : " ";
  }
  for (const auto& step : one.analysis.steps) {
    if (step.point >= first) {
      line.marks[column_of(step.point)] = '^';
    }
  }
  line.marks.erase(line.marks.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace assay::report
