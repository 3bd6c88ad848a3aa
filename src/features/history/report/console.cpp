#include "features/history/analysis.h"
#include "features/history/history.h"
#include "features/history/report/history_report.h"
#include "features/history/report/text.h"
#include "features/history/segment.h"
#include "features/history/series.h"
#include "features/history/verified_change.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/text.h"
#include "assay/report/format.h"
#include "assay/report/text_page.h"
#include "assay/report/text_table.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

constexpr std::size_t kShowAll = 10;
constexpr std::size_t kSparkColumns = 64;
constexpr std::size_t kIndent = 2;

std::string series_title(const history::Series& series) {
  return printable(series.full_name()) + " · " + printable(series.metric);
}

/// "1.3 %", or "1.9 1/s" where offsets are differences: the usual distance from the level.
std::string text_of_noise(const history::Series& series, double noise) {
  return series.is_ratio ? fmt::format("{} %", text_from_number(100 * noise, 2))
                         : fmt::format("{} {}", text_from_number(noise, 2), printable(series.unit));
}

/// A value in the unit that suits it.
std::string text_of_value(const history::Series& series, double value) {
  const auto scale = scale_for(series.unit, {value});
  const auto text = text_from_estimate({.value = value}, scale);
  return scale.unit.empty() ? text : fmt::format("{} {}", text, printable(scale.unit));
}

std::string coloured_change(const history::Series& series, double offset, bool has_colour) {
  const int direction = direction_of_change(series, offset);
  const auto text = text_of_change(series, offset);
  return coloured(text, direction > 0 ? "31" : direction < 0 ? "32" : "", has_colour);
}

std::string text_of_step(const history::Series& series, const history::Step& step,
                         bool has_colour) {
  const auto& point = series.points[step.point];
  const bool is_exact = series.is_exact();
  std::string text =
      fmt::format("{}: {}", word_of_direction(direction_of_change(series, step.shift.estimate)),
                  coloured_change(series, step.shift.estimate, has_colour));
  if (!is_exact) {
    text += " " + text_of_changes(series, step.shift.low, step.shift.high);
  }
  const auto date = date_of_point(point);
  text += fmt::format("  at {}{}{}", short_commit(point.commit), date.empty() ? "" : " ", date);
  if (const auto commits = commits_of_step(series, step); !commits.empty()) {
    text += fmt::format(" ({})", commits);
  }
  text += is_exact ? ", exact" : step.is_firm ? ", firm" : ", by ranks only";
  if (step.is_gradual) {
    text += ", gradual rather than at one commit";
  }
  if (!step.is_counted) {
    text += ", not counted: as likely by chance among so many series";
  }
  return text;
}

/// ", worse", or nothing where neither direction is better.
std::string aside_of_direction(const history::Series& series, double offset) {
  const int direction = direction_of_change(series, offset);
  return direction == 0 ? "" : fmt::format(", {}", word_of_direction(direction));
}

std::string text_of_nomination(const history::Series& series, const history::Nomination& one,
                               bool has_colour) {
  const auto& point = series.points[one.point];
  const auto why =
      one.cause == history::NominationCause::kOutside
          ? fmt::format("a single point may differ by {}", text_of_allowed(series, one))
          : std::string("the points since then lie on one side");
  return fmt::format("newest{}: {} since {} {}, {}; too few points to be sure, compare it with {}",
                     aside_of_direction(series, one.change),
                     coloured_change(series, one.change, has_colour), short_commit(point.commit),
                     date_of_point(point), why,
                     short_commit(series.points[one.last_before].commit));
}

std::string text_of_segment(const history::Series& series, const history::Segment& segment) {
  const auto& point = series.points[segment.first];
  switch (segment.cause) {
    case history::SegmentCause::kEnvironment:
      return fmt::format("another machine from {} on: {}", short_commit(point.commit),
                         printable(series.environments[point.environment]));
    case history::SegmentCause::kMetric:
      return fmt::format("version {} of the metric from {} on", point.metric_version,
                         short_commit(point.commit));
    case history::SegmentCause::kReference:
      return fmt::format("reference {} from {} on",
                         short_commit(series.references[point.reference]),
                         short_commit(point.commit));
    default:
      return "";
  }
}

std::string text_of_silence(const history::Silence& silence) {
  std::string text = "silent: no point for ";
  text += counted(static_cast<std::size_t>(silence.commits), "commit");
  return silence.days > 0 ? text + ", " + counted(static_cast<std::size_t>(silence.days), "day")
                          : text;
}

bool has_open_nomination(const history::AnalyzedSeries& one, const history::History& history) {
  const auto& nomination = one.analysis.nomination;
  return nomination && !is_explained(*nomination, history, one.series);
}

bool says_something(const history::AnalyzedSeries& one, const history::History& history) {
  const auto& analysis = one.analysis;
  const std::size_t first = first_shown(history, one.series);
  const bool was_verified = std::ranges::any_of(history.verified, [&](const auto& change) {
    return is_about(change, history, one.series) && change.state != kRejected;
  });
  return was_verified ||
         std::ranges::any_of(analysis.steps,
                             [first](const auto& step) { return step.point >= first; }) ||
         has_open_nomination(one, history) || analysis.drift || analysis.silence;
}

void add_findings(const history::History& history, const history::AnalyzedSeries& one,
                  bool has_colour, TextPage& page) {
  const auto& [series, analysis] = one;
  const std::size_t first = first_shown(history, series);
  for (const auto& step : analysis.steps) {
    if (step.point >= first && !is_verified(step, history, series)) {
      page.line(text_of_step(series, step, has_colour), kIndent, kIndent);
    }
  }
  for (const auto& segment : analysis.segments) {
    if (const auto text = text_of_segment(series, segment);
        segment.first >= first && !text.empty()) {
      page.line(text, kIndent, kIndent);
    }
  }
  if (analysis.nomination && has_open_nomination(one, history)) {
    page.line(text_of_nomination(series, *analysis.nomination, has_colour), kIndent, kIndent);
  }
  if (analysis.drift) {
    page.line(fmt::format("drift{}: the newest points lie {} {} off the {}, which no step explains",
                          aside_of_direction(series, analysis.drift->change),
                          coloured_change(series, analysis.drift->change, has_colour),
                          text_of_changes(series, analysis.drift->low, analysis.drift->high),
                          series.has_reference ? "reference" : "first ones"),
              kIndent, kIndent);
  }
  if (analysis.silence) {
    page.line(text_of_silence(*analysis.silence), kIndent, kIndent);
  }
  const auto outliers =
      analysis.outliers.end() - std::ranges::lower_bound(analysis.outliers, first);
  if (outliers > 0) {
    page.line(counted(static_cast<std::size_t>(outliers), "outlier") + " set aside", kIndent);
  }
}

std::string text_with_detail(const history::VerifiedChange& change, bool has_colour) {
  auto text = text_of_verified(change, has_colour);
  if (!change.details.empty()) {
    text += "; " + printable(change.details.front());
  }
  return text;
}

void add_verified(const history::History& history, const history::Series& series, bool has_colour,
                  TextPage& page) {
  std::size_t rejected = 0;
  for (const auto& change : history.verified) {
    if (!is_about(change, history, series)) {
      continue;
    }
    if (change.state == kRejected) {
      ++rejected;
    } else {
      page.line(text_with_detail(change, has_colour), kIndent, kIndent);
    }
  }
  if (rejected > 0) {
    page.line(counted(rejected, "suspicion") + " that fresh pairs rejected", kIndent);
  }
}

void add_series(const history::History& history, const history::AnalyzedSeries& one,
                const ReportStyle& style, TextPage& page) {
  const auto& [series, analysis] = one;
  page.heading(series_title(series));
  const std::size_t first = first_shown(history, series);
  if (first >= series.points.size()) {
    page.line("no point among the shown commits", kIndent);
    add_verified(history, series, style.is_terminal, page);
    add_findings(history, one, style.is_terminal, page);
    return;
  }
  const auto width = static_cast<std::size_t>(std::max(style.width_columns, 40)) - kIndent;
  const auto spark = sparkline_of(one, first, std::min(kSparkColumns, width));
  const auto& last = series.points.back();
  page.line_as_is(spark.blocks, kIndent);
  if (!spark.marks.empty()) {
    page.line_as_is(spark.marks, kIndent);
  }
  page.line(fmt::format("{}, {} to {}; level {}, noise {}",
                        counted(series.points.size() - first, "point"),
                        short_commit(series.points[first].commit), short_commit(last.commit),
                        text_of_value(series, analysis.segments.back().value),
                        text_of_noise(series, analysis.noise)),
            kIndent);
  add_verified(history, series, style.is_terminal, page);
  add_findings(history, one, style.is_terminal, page);
}

void add_incidents(const history::History& history, TextPage& page) {
  bool has_heading = false;
  for (const auto& incident : history.incidents) {
    if (incident.steps.size() < 2 || incident.until < history.since) {
      continue;
    }
    if (!has_heading) {
      page.heading("Commits that changed several series");
      has_heading = true;
    }
    std::string text =
        fmt::format("{} ({} to {}): ", short_commit(incident.likely),
                    short_commit(incident.last_before), short_commit(incident.first_after));
    for (const auto& where : incident.steps) {
      const auto& [series, analysis] = history.series[where.series];
      text += fmt::format("{}{} {}", &where == &incident.steps.front() ? "" : "; ",
                          series_title(series),
                          text_of_change(series, analysis.steps[where.step].shift.estimate));
    }
    page.line(text, kIndent, kIndent);
  }
}

}  // namespace

std::string console_from_history(const history::History& history, const ReportStyle& style) {
  TextPage page(style);
  for (const auto& note : history.notes) {
    page.line(printable(note));
  }
  std::size_t quiet = 0;
  for (const auto& one : history.series) {
    if (history.series.size() > kShowAll && !says_something(one, history)) {
      ++quiet;
      continue;
    }
    add_series(history, one, style, page);
  }
  if (quiet > 0) {
    page.blank();
    page.line(counted(quiet, "further series", "further series") +
              " without a change; --only shows them");
  }
  add_incidents(history, page);
  auto text = page.text();
  text.erase(0, text.find_first_not_of('\n'));
  return text;
}

}  // namespace assay::report
