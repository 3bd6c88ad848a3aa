#include "features/history/history.h"
#include "features/history/report/history_report.h"
#include "features/history/report/text.h"
#include "features/history/rule.h"
#include "features/history/segment.h"
#include "features/history/series.h"
#include "features/history/verified_change.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>

#include "assay/base/text.h"
#include "assay/report/format.h"
#include "assay/report/text_page.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

constexpr std::size_t kExplanationIndent = 2;
constexpr std::size_t kExplainAll = 10;  ///< With more series, those that say nothing are counted.

void explain_evidence(const history::Step& step, const history::HistoryRule& rule, TextPage& page) {
  page.line(fmt::format("rank statistic {:.2f}; without a change {:.2g} % of series exceed "
                        "{:.2f}, and at most {:.2g} % reach it",
                        step.statistic, 100 * rule.alpha, step.critical_value, 100 * step.p_value),
            kExplanationIndent, kExplanationIndent);
  if (step.autocorrelation > 0) {
    page.line(fmt::format("neighboring points depend on each other (autocorrelation {:.2f}), so "
                          "the limit is {:.2f} times that of independent ones",
                          step.autocorrelation,
                          std::sqrt((1 + step.autocorrelation) / (1 - step.autocorrelation))),
              kExplanationIndent, kExplanationIndent);
  }
  page.line(step.is_firm ? "a second method, by means, finds it, too"
                         : "a second method, by means, does not find it",
            kExplanationIndent);
  if (step.is_gradual) {
    page.line("a slope explains the points around better than one step", kExplanationIndent);
  }
  if (!step.is_counted) {
    page.line("it does not count: among so many series chance alone makes one like it",
              kExplanationIndent);
  }
}

void explain_step(const history::Series& series, const history::Step& step,
                  const history::HistoryRule& rule, TextPage& page) {
  const auto& points = series.points;
  if (series.is_exact()) {
    page.line(fmt::format("a step of {} after {}; the values have no noise, so it is real",
                          text_of_change(series, step.shift.estimate),
                          short_commit(points[step.last_before].commit)),
              kExplanationIndent, kExplanationIndent);
    return;
  }
  page.line(fmt::format("a step of {} {} lies here: most likely at {}, plausibly at any commit "
                        "after {} up to {}",
                        text_of_change(series, step.shift.estimate),
                        text_of_changes(series, step.shift.low, step.shift.high),
                        short_commit(points[step.point].commit),
                        short_commit(points[step.last_before].commit),
                        short_commit(points[step.first_after].commit)),
            kExplanationIndent, kExplanationIndent);
  explain_evidence(step, rule, page);
}

bool is_within(const history::Series& series, const history::Step& step, std::int64_t position) {
  return series.points[step.last_before].position < position &&
         position <= series.points[step.first_after].position;
}

void explain_point(const history::AnalyzedSeries& one, std::size_t at, TextPage& page) {
  const auto& [series, analysis] = one;
  const auto& point = series.points[at];
  const auto segment = std::ranges::find_if(analysis.segments, [at](const auto& candidate) {
    return candidate.first <= at && at < candidate.end;
  });
  const auto scale = scale_for(series.unit, {point.value});
  const auto unit = scale.unit.empty() ? "" : " " + printable(scale.unit);
  page.line(fmt::format("{}{}: {} off the level of points {} to {}",
                        text_from_estimate({.value = point.value}, scale), unit,
                        text_of_change(series, point.offset - segment->level),
                        short_commit(series.points[segment->first].commit),
                        short_commit(series.points[segment->end - 1].commit)),
            kExplanationIndent, kExplanationIndent);
  if (std::ranges::binary_search(analysis.outliers, at)) {
    page.line(
        "an outlier: it lies off both the four points before and the four after, so it is "
        "no part of its level",
        kExplanationIndent, kExplanationIndent);
  }
  if (analysis.nomination && analysis.nomination->point == at) {
    page.line(fmt::format("nominated: {} off its level, where a single point may lie {} off",
                          text_of_change(series, analysis.nomination->change),
                          text_of_allowed(series, *analysis.nomination)),
              kExplanationIndent, kExplanationIndent);
  }
}

bool has_verified(const history::Series& series, std::int64_t position,
                  const history::History& history) {
  return std::ranges::any_of(history.verified, [&](const history::VerifiedChange& change) {
    return is_about(change, history, series) && may_be_of(change, history, position);
  });
}

void explain_verified(const history::VerifiedChange& change, TextPage& page) {
  page.heading(printable(change.series) + " · " + printable(change.metric));
  page.line(text_of_verified(change, /*has_colour=*/false), kExplanationIndent, kExplanationIndent);
  for (const auto& detail : change.details) {
    page.line(printable(detail), kExplanationIndent, kExplanationIndent);
  }
  if (!change.command.empty()) {
    page.line("shown by " + printable(change.command), kExplanationIndent, kExplanationIndent);
  }
}

/// True if a series says anything of the commit in addition to its value.
bool says_something(const history::AnalyzedSeries& one, std::int64_t position) {
  const auto& [series, analysis] = one;
  const auto is_at = [&](std::size_t point) { return series.points[point].position == position; };
  return std::ranges::any_of(analysis.outliers, is_at) ||
         (analysis.nomination && is_at(analysis.nomination->point)) ||
         std::ranges::any_of(analysis.steps, [&](const history::Step& step) {
           return is_within(series, step, position);
         });
}

void explain_series(const history::AnalyzedSeries& one, std::int64_t position,
                    const history::History& history, TextPage& page) {
  const auto& rule = history.rule;
  const auto& [series, analysis] = one;
  page.heading(printable(series.full_name()) + " · " + printable(series.metric));
  const auto found =
      std::ranges::lower_bound(series.points, position, {}, &history::Point::position);
  if (found != series.points.end() && found->position == position) {
    explain_point(one, static_cast<std::size_t>(found - series.points.begin()), page);
  } else {
    page.line("not measured", kExplanationIndent);
  }
  bool has_step = false;
  for (const auto& step : analysis.steps) {
    if (is_within(series, step, position)) {
      explain_step(series, step, rule, page);
      has_step = true;
    }
  }
  if (!has_step && !has_verified(series, position, history)) {
    page.line("no step lies here", kExplanationIndent);
  }
}

}  // namespace

std::string explanation_of_commit(const history::History& history, std::int64_t position,
                                  const ReportStyle& style) {
  TextPage page(style);
  for (const auto& change : history.verified) {
    if (may_be_of(change, history, position)) {
      explain_verified(change, page);
    }
  }
  std::size_t quiet = 0;
  for (const auto& one : history.series) {
    if (history.series.size() > kExplainAll && !says_something(one, position)) {
      ++quiet;
      continue;
    }
    explain_series(one, position, history, page);
  }
  if (quiet > 0) {
    page.blank();
    page.line(counted(quiet, "further series", "further series") +
              ": no step lies here; --only shows them");
  }
  auto text = page.text();
  text.erase(0, text.find_first_not_of('\n'));
  return text;
}

}  // namespace assay::report
