#include "features/history/history.h"

#include "features/history/analysis.h"
#include "features/history/rule.h"
#include "features/history/segment.h"
#include "features/history/series.h"
#include "features/history/verified_change.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/stats/multiplicity.h"

namespace assay::history {
namespace {

constexpr double kFalseDiscoveries = 0.05;

Now newest_of(const std::vector<Series>& all) {
  Now now;
  for (const auto& series : all) {
    if (!series.points.empty()) {
      now.position = std::max(now.position, series.points.back().position);
      now.unix_ns = std::max(now.unix_ns, series.points.back().unix_ns);
    }
  }
  return now;
}

void count_newest_steps(std::vector<AnalyzedSeries>& all) {
  std::vector<double> p_values;
  p_values.reserve(all.size());
  for (const auto& one : all) {
    p_values.push_back(one.analysis.steps.empty() ? 1 : one.analysis.steps.back().p_value);
  }
  const auto rejected = stats::benjamini_hochberg(p_values, kFalseDiscoveries);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].analysis.steps.empty()) {
      all[i].analysis.steps.back().is_counted = rejected[i];
    }
  }
}

struct RangedStep {
  std::int64_t after = 0;
  std::int64_t until = 0;
  std::int64_t likely = 0;
  SeriesStep where;
};

const Step& step_of(const std::vector<AnalyzedSeries>& all, const SeriesStep& where) {
  return all[where.series].analysis.steps[where.step];
}

std::vector<RangedStep> ranged_steps(const std::vector<AnalyzedSeries>& all) {
  std::vector<RangedStep> steps;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& points = all[i].series.points;
    for (std::size_t j = 0; j < all[i].analysis.steps.size(); ++j) {
      const auto& step = all[i].analysis.steps[j];
      if (step.is_counted && !step.is_gradual) {
        steps.push_back({.after = points[step.last_before].position,
                         .until = points[step.first_after].position,
                         .likely = points[step.point].position,
                         .where = {.series = i, .step = j}});
      }
    }
  }
  std::ranges::sort(steps, {}, [](const RangedStep& step) {
    return std::tuple(step.likely, step.where.series, step.where.step);
  });
  return steps;
}

/// Names the commits. The likely one is that of the clearest step that has it within the range; a
/// range in which none lies has its last.
void name_commits(const std::vector<AnalyzedSeries>& all, Incident& incident) {
  double least_p_value = 2;
  for (const auto& where : incident.steps) {
    const auto& points = all[where.series].series.points;
    const auto& step = step_of(all, where);
    if (points[step.last_before].position == incident.after) {
      incident.last_before = points[step.last_before].commit;
    }
    if (points[step.first_after].position == incident.until) {
      incident.first_after = points[step.first_after].commit;
    }
    const auto& likely = points[step.point];
    const bool is_within = likely.position > incident.after && likely.position <= incident.until;
    if (is_within && step.p_value < least_p_value) {
      least_p_value = step.p_value;
      incident.likely = likely.commit;
    }
  }
  incident.likely = incident.likely.empty() ? incident.first_after : incident.likely;
}

std::vector<Incident> grouped(const std::vector<AnalyzedSeries>& all) {
  std::vector<Incident> incidents;
  for (const auto& step : ranged_steps(all)) {
    const bool is_joined = !incidents.empty() && step.after < incidents.back().until &&
                           incidents.back().after < step.until;
    if (!is_joined) {
      incidents.push_back({.after = step.after, .until = step.until});
    }
    auto& incident = incidents.back();
    incident.after = std::max(incident.after, step.after);
    incident.until = std::min(incident.until, step.until);
    incident.steps.push_back(step.where);
  }
  for (auto& incident : incidents) {
    name_commits(all, incident);
  }
  std::ranges::reverse(incidents);
  return incidents;
}

bool lies_between(const VerifiedChange& change, const Point& before, const Point& after) {
  return before.position < change.position && change.position <= after.position;
}

/// Divides the segment that a change with a culprit lies within, unless a step does so already.
void divide_at(const VerifiedChange& change, AnalyzedSeries& one) {
  const auto& points = one.series.points;
  const bool has_step = std::ranges::any_of(one.analysis.steps, [&](const Step& step) {
    return lies_between(change, points[step.last_before], points[step.first_after]);
  });
  if (has_step) {
    return;
  }
  auto& segments = one.analysis.segments;
  const auto found = std::ranges::lower_bound(points, change.position, {}, &Point::position);
  const auto at = static_cast<std::size_t>(found - points.begin());
  const auto segment = std::ranges::find_if(segments, [at](const Segment& candidate) {
    return candidate.first < at && at < candidate.end;
  });
  if (segment == segments.end()) {
    return;
  }
  const auto& outliers = one.analysis.outliers;
  const auto after = segment_of(one.series, outliers, at, segment->end, SegmentCause::kVerified);
  *segment = segment_of(one.series, outliers, segment->first, at, segment->cause);
  segments.insert(segment + 1, after);
}

/// Applies a change with a culprit to a series of its name.
void apply(const VerifiedChange& change, AnalyzedSeries& one) {
  const auto& points = one.series.points;
  auto& nomination = one.analysis.nomination;
  if (nomination &&
      lies_between(change, points[nomination->last_before], points[nomination->point])) {
    nomination.reset();
  }
  if (change.metric == one.series.metric) {
    divide_at(change, one);
  }
}

}  // namespace

bool VerifiedChange::is_on(const Series& one) const {
  return series == one.name && (machine.empty() || one.machine.empty() || machine == one.machine);
}

bool VerifiedChange::has_culprit() const {
  constexpr auto kShown =
      std::to_array<std::string_view>({"confirmed", "acknowledged", "fixed", "accepted"});
  return !commit.empty() && std::ranges::find(kShown, state) != kShown.end();
}

void add_verified(History& history, std::vector<VerifiedChange> verified) {
  history.verified = std::move(verified);
  for (auto& one : history.series) {
    for (const auto& change : history.verified) {
      if (change.is_on(one.series) && change.has_culprit()) {
        apply(change, one);
      }
    }
  }
}

History make_history(std::string source, std::vector<Series> series, const HistoryRule& rule) {
  History history{.source = std::move(source), .rule = rule};
  const auto now = newest_of(series);
  for (auto& one : series) {
    auto analysis = analyze_series(one, rule, now);
    history.series.push_back({.series = std::move(one), .analysis = std::move(analysis)});
  }
  count_newest_steps(history.series);
  history.incidents = grouped(history.series);
  return history;
}

Result<std::int64_t> position_of_commit(const History& history, std::string_view commit) {
  std::optional<std::int64_t> found;
  bool is_exact = false;
  bool is_ambiguous = false;
  const auto consider = [&](const std::string& name, std::int64_t position) {
    if (is_exact || commit.empty() || !name.starts_with(commit)) {
      return;
    }
    is_exact = name == commit;
    is_ambiguous = !is_exact && (is_ambiguous || found.value_or(position) != position);
    found = position;
  };
  for (const auto& one : history.series) {
    for (const auto& point : one.series.points) {
      consider(point.commit, point.position);
    }
  }
  // The commit that made a change may have been measured by another one of the same bytes.
  for (const auto& change : history.verified) {
    consider(change.commit, change.position);
  }
  if (is_ambiguous) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("several commits begin with '{}'; give more of the hash", printable(commit)));
  }
  if (!found) {
    return fail(ErrorCode::kNotFound, fmt::format("no commit '{}' in {}; it was not measured",
                                                  printable(commit), history.source));
  }
  return *found;
}

Status show_since(History& history, std::string_view commit) {
  ASSAY_ASSIGN_OR_RETURN(history.since, position_of_commit(history, commit));
  return {};
}

}  // namespace assay::history
