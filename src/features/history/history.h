#pragma once

#include "features/history/analysis.h"
#include "features/history/rule.h"
#include "features/history/series.h"
#include "features/history/verified_change.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::history {

struct AnalyzedSeries {
  Series series;
  SeriesAnalysis analysis;
};

/// A step of one of the series.
struct SeriesStep {
  std::size_t series = 0;  ///< Index in History::series.
  std::size_t step = 0;    ///< Index of the step in the analysis of that series.
};

/// Steps that one commit can have made: the commits that are plausible for all of them.
struct Incident {
  std::int64_t after = 0;  ///< Position of the last commit without the change.
  std::int64_t until = 0;  ///< Position of the first commit that has it for certain.
  std::string last_before;
  std::string first_after;
  std::string likely;  ///< Commit of the clearest step.
  std::vector<SeriesStep> steps;
};

/// Series with what they say, alone and together.
struct History {
  std::string source;  ///< A file, or a repository.
  HistoryRule rule;
  std::vector<AnalyzedSeries> series;
  std::vector<Incident> incidents;            ///< Newest first.
  std::int64_t since = 0;                     ///< Position of the first commit that is to be shown.
  std::vector<VerifiedChange> verified = {};  ///< Newest first.
  std::vector<std::string> notes = {};        ///< About the source: rows that are no points.
};

/// Analyzes each series, and then all together: the newest step of each counts only if it is among
/// those that Benjamini and Hochberg reject (5 %, over all series), and the steps that count are
/// grouped by the commits that are plausible for them. Pure.
History make_history(std::string source, std::vector<Series> series, const HistoryRule& rule);

/// Adds changes that were looked into, newest first. One that was shown at a commit divides its
/// series into two levels there, and explains the nominations of all series of that name.
void add_verified(History& history, std::vector<VerifiedChange> verified);

/// Shows commits from `commit` on, a hash or the beginning of one. Errors: kNotFound.
Status show_since(History& history, std::string_view commit);

/// The position of a commit by its hash or the beginning of one. Errors: kNotFound;
/// kInvalidArgument when several begin so.
Result<std::int64_t> position_of_commit(const History& history, std::string_view commit);

}  // namespace assay::history
