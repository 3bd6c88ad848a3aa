#pragma once

#include "features/compare/bisection_evidence.h"
#include "features/compare/bisection_search.h"
#include "features/watch/find_culprit.h"
#include "features/watch/run_points.h"
#include "features/watch/verify.h"
#include "features/watch/watch_view.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"

namespace assay::watch {

/// Outcome of the comparison of suspects with the revision before them.
struct Conviction {
  bool is_convicted = false;
  double change = 0;       ///< Change that they made; 0: no build shows it.
  std::string comparison;  ///< Id; empty for a metric that repeats exactly.
};

/// The search for one culprit between the two ends of an incident.
class CulpritSearch {
 public:
  CulpritSearch(const WatchView& view, const Incident& incident, const IncidentTools& tools,
                const SearchPlan& plan)
      : view_(view),
        incident_(incident),
        tools_(tools),
        plan_(plan),
        candidates_(candidates_of(view, incident)),
        is_exact_(incident.attribution.value("is_exact", false)) {}

  /// Builds the ends, learns change and spread, and takes what earlier searches measured. Where
  /// `can_search` is false after it, `reason` says why there is nothing to search for.
  Status prepare();
  /// Measures until the suspects are likely enough, the pairs have run out, or no build tells more.
  Status search();
  /// Compares the suspects with the revision before them. Acquitted, they are less likely.
  Result<Conviction> convict();
  /// The pairs and builds that the search is going to take.
  [[nodiscard]] SearchForecast forecast() const;

  [[nodiscard]] bool can_search() const { return search_ != nullptr; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool has_pairs_left() const { return pairs_ < plan_.most_pairs; }
  [[nodiscard]] int pairs() const { return pairs_; }
  /// From the good end to the bad one: a log ratio, or a difference where a ratio means nothing.
  [[nodiscard]] double change() const { return change_; }
  [[nodiscard]] std::size_t size() const { return candidates_.size(); }
  /// The ends of a part of the candidates; nullopt if its builds fail.
  [[nodiscard]] std::optional<Incident> part(const BisectionRange& range) const;
  [[nodiscard]] Suspects suspects() const { return search_->suspects(); }
  [[nodiscard]] const Revision& candidate(std::size_t index) const { return candidates_[index]; }

 private:
  Result<std::vector<double>> measure(const RevisionBuild& build, const Revision& revision,
                                      int rounds);
  Result<std::vector<double>> calibrate(const RevisionBuild& bad);
  [[nodiscard]] std::size_t least_pairs() const {
    return is_exact_ ? 1 : PairEvidence::kLeastPairs;
  }
  Status begin(const RevisionBuild& bad, const std::vector<double>& offsets);
  /// The newest batch of the sitting's build that suffices for calibration.
  Result<std::optional<Run>> find_run(const Sitting& sitting);
  Result<Conviction> convict_exactly(const RevisionBuild& before, const Revision& revision,
                                     const RevisionBuild& build);
  /// Operators that account for most of the change; none where the program tells of none.
  Result<std::vector<std::string>> find_slow_operators(const RevisionBuild& bad);
  Result<std::vector<double>> offsets_from_run(const Run& run, const Sitting& sitting) const;
  [[nodiscard]] double log_ratio_of(const std::vector<double>& offsets) const;
  [[nodiscard]] double change_of(const Comparison& comparison) const;
  Result<std::vector<BisectionCommit>> weigh(const std::vector<std::string>& operators);
  void note_cost(const Run& run, std::size_t pairs);
  void skip(std::size_t index);
  /// Notes the bytes of a candidate. Those of another one that is known, or of an end, say that no
  /// commit between the two made the change; returns whether they did.
  bool rule_out_equal(std::size_t index, const RevisionBuild& build);
  Status observe(std::size_t index, const RevisionBuild& build);
  Status take_earlier();
  /// Position of a candidate by its hash; the number of candidates if it is not one of them.
  [[nodiscard]] std::size_t index_of(const std::string& hash) const;

  const WatchView& view_;
  Incident incident_;
  const IncidentTools& tools_;
  SearchPlan plan_;
  std::vector<Revision> candidates_;
  RevisionBuild good_;
  bool is_exact_;
  double change_ = 0;                             ///< Offset of the bad end from the good one.
  std::optional<PairEvidence> evidence_;          ///< Model of the noise; empty: there is none.
  std::unique_ptr<BisectionSearch> search_;       ///< Null until the ends are known to differ.
  std::string reason_;                            ///< Why it is null.
  std::map<std::string, std::ptrdiff_t> places_;  ///< Keyed by bytes; -1: the good end.
  std::set<std::size_t> observed_;                ///< Candidates whose bytes are known.
  std::set<std::size_t> skipped_;
  std::map<std::pair<std::size_t, std::size_t>, int> attempts_;  ///< Attempts to convict suspects.
  int pairs_ = 0;
  double pair_seconds_ = 0;  ///< Duration of the last pairs.
};

}  // namespace assay::watch
