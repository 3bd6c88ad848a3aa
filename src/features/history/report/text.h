#pragma once

#include "features/history/analysis.h"
#include "features/history/history.h"
#include "features/history/segment.h"
#include "features/history/series.h"
#include "features/history/verified_change.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Parts of a history as text, which all formats share.
namespace assay::report {

/// State of a change that fresh pairs did not show.
inline constexpr std::string_view kRejected = "rejected";

/// "3f2c1a9e01": of a long hash the first ten characters.
std::string short_commit(const std::string& commit);

/// "2026-01-31", or nothing without a time.
std::string date_of_point(const history::Point& point);

/// A change of an offset as a reader thinks of it: a ratio (0.05), or the difference.
double change_from_offset(const history::Series& series, double offset);

/// "+5.1 %", or "+0.3 dB".
std::string text_of_change(const history::Series& series, double offset);

/// "[+4.6, +5.5]"; "[?, ?]" for ends that are not known.
std::string text_of_changes(const history::Series& series, double low, double high);

/// Whether a change makes the metric worse: 1, better: -1, or neither: 0.
int direction_of_change(const history::Series& series, double offset);

/// How far a single point may differ, in the direction of the change.
std::string text_of_allowed(const history::Series& series, const history::Nomination& nomination);

/// "worse", "better", or "changed" where neither direction is better.
std::string_view word_of_direction(int direction);

/// "one of the 3 commits after 77aa001 up to 3f2c1a9": those that may have made a step; empty where
/// it can only be one.
std::string commits_of_step(const history::Series& series, const history::Step& step);

/// True if the change is one of the series, and of a commit that is shown.
bool is_about(const history::VerifiedChange& change, const history::History& history,
              const history::Series& series);

/// True if a change that was verified and not rejected explains the step.
bool is_verified(const history::Step& step, const history::History& history,
                 const history::Series& series);

/// True if the newest points differ for a change of the same case that was verified and not
/// rejected: of this metric, or of another one that the same commit changed.
bool is_explained(const history::Nomination& nomination, const history::History& history,
                  const history::Series& series);

/// True if the change was made by the commit at this position, or may have been.
bool may_be_of(const history::VerifiedChange& change, const history::History& history,
               std::int64_t position);

/// "confirmed: +4.6 % [+3.6 %, +5.1 %], 20 pairs at 3f2c1a9e01 conv: simplify".
std::string text_of_verified(const history::VerifiedChange& change, bool has_colour);

/// The first of the points that are shown.
std::size_t first_shown(const history::History& history, const history::Series& series);

/// Values as a line of block characters: the median of each column, from the least of them to the
/// largest. `first`: of the points to draw; outliers are left out.
struct Sparkline {
  std::string blocks;
  std::string marks;  ///< "^" below each step, spaces elsewhere.
};
Sparkline sparkline_of(const history::AnalyzedSeries& one, std::size_t first, std::size_t columns);

}  // namespace assay::report
