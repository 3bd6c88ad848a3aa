#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/iterations.h"
#include "assay/campaign/launch_schedule.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/stopping.h"
#include "assay/record/axes.h"
#include "assay/record/conclusion.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {

/// Where one (case, pass) stands: what a resumed run finds in the store.
struct AttemptState {
  Attempt attempt;
  int launches = 0;  ///< Finished ones.
  std::int64_t last_wall_ns = 0;
  std::int64_t spent_ns = 0;   ///< Wall time of all launches.
  std::vector<double> levels;  ///< Levels of the timed launches, see stopping.h.
  IterationPilot pilot{3};  ///< Pilot of the first timed launches, where a plan adapts iterations.
};

/// The attempts of one try at the cases of a run, each kept in the store as it changes. References
/// to states stay good while others are added.
class Attempts {
 public:
  /// `store` outlives it. `n`: which try; another one has attempts of its own.
  Attempts(std::string run, int n, const LaunchPlan& plan, ResultStore& store)
      : run_(std::move(run)), n_(n), plan_(plan), store_(store) {}
  Attempts(const Attempts&) = delete;
  Attempts(Attempts&&) = default;

  /// Takes up what the store holds of the run, and decides attempts whose last launch was stored,
  /// but which were stopped before their verdict was.
  Status read();

  /// Null: nothing was begun yet.
  AttemptState* find(const PreparedCase& prepared, Pass pass) const;
  /// A new one is stored, so that a resumed run finds it.
  Result<AttemptState*> find_or_begin(const PreparedCase& prepared, Pass pass);

  /// Numbers the launch, after all others of the run, and stores it.
  Status add_launch(AttemptState& state, Launch& launch);
  Status finish(AttemptState& state, Conclusion conclusion);

  /// Whether the step is still to be made: what is not timed is one launch and its judgement, and
  /// without the judgement it is made again.
  bool is_open(const PreparedCase& prepared, const ScheduledLaunch& step) const;
  /// Whether a timed case needs no further launch.
  bool has_enough(const AttemptState& state) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, Pass, int>;
  static Key key_of(const Attempt& attempt);
  Attempt wanted(const PreparedCase& prepared, Pass pass) const;
  AttemptState& keep(AttemptState state);
  void count(const Launch& launch, AttemptState& state) const;
  Status settle(AttemptState& state, const std::vector<Launch>& launches);

  std::string run_;
  int n_;
  LaunchPlan plan_;
  ResultStore& store_;
  std::deque<AttemptState> states_;
  std::map<Key, AttemptState*> by_key_;
  int order_ = 0;  ///< Position of the next launch.
};

}  // namespace assay
