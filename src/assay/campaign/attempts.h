#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
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

/// Reason of a launch, and of its attempt, that says nothing about the case: the device was lost
/// each time it was made. Who resumes the run makes it again.
inline constexpr std::string_view kDeviceLost = "device_lost";

/// Where one (case, pass) stands: what a resumed run finds in the store.
struct AttemptState {
  Attempt attempt;
  int launches = 0;  ///< Finished ones.
  int lost = 0;      ///< Those among them that lost the device, by an earlier process.
  std::int64_t last_wall_ns = 0;
  std::int64_t spent_ns = 0;   ///< Wall time of all launches.
  std::vector<double> levels;  ///< Levels of the timed launches, see stopping.h.
  IterationPilot pilot{3};  ///< Pilot of the first timed launches, where a plan adapts iterations.
};

/// Position of the next launch in its run; the devices of a run count together.
using LaunchOrder = std::atomic<int>;

/// Whose attempts: those of one try at the cases of a run on one device.
struct AttemptScope {
  std::string run;
  std::string device = "local";
  int n = 0;  ///< Number of the try; another one has attempts of its own.
  std::string worker = "local";
};

/// Says in the store until when a launch of the attempt may last that begins now, for processes
/// that see no claim on the run. A lease that lasts longer than the launch stays, so that an
/// attempt of many launches is seldom written. Errors: the store's.
Status lease_attempt(Attempt& attempt, std::int64_t longest_ns, ResultStore& store);

/// The attempts of a scope, each kept in the store as it changes. References to states stay good
/// while others are added.
class Attempts {
 public:
  /// `store` outlives it. `order`: shared with the other devices of the run.
  Attempts(AttemptScope scope, const LaunchPlan& plan, ResultStore& store,
           std::shared_ptr<LaunchOrder> order = std::make_shared<LaunchOrder>(0))
      : scope_(std::move(scope)), plan_(plan), store_(store), order_(std::move(order)) {}
  Attempts(const Attempts&) = delete;
  Attempts(Attempts&&) = default;

  /// Takes up what the store holds of the scope, and decides attempts whose last launch was stored,
  /// but which were stopped before their verdict was. Those that lost their device are open again.
  Status read();

  /// Null: nothing was begun yet.
  AttemptState* find(const PreparedCase& prepared, Pass pass) const;
  /// A new one is stored, so that a resumed run finds it.
  Result<AttemptState*> find_or_begin(const PreparedCase& prepared, Pass pass);

  /// Leases the attempt as lease_attempt() does.
  Status lease(AttemptState& state, std::int64_t longest_ns);
  /// Ends the leases of attempts that stay open: this process goes on with none of them.
  Status release();

  /// Numbers the launch, after all others of the run, and stores it.
  Status add_launch(AttemptState& state, Launch& launch);
  Status finish(AttemptState& state, Conclusion conclusion);

  /// True if the step is still to be made: what is not timed is one launch and its judgement, and
  /// without the judgement it is made again.
  bool is_open(const PreparedCase& prepared, const ScheduledLaunch& step) const;
  /// True if a timed case needs no further launch.
  bool has_enough(const AttemptState& state) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, Pass, int>;
  static Key key_of(const Attempt& attempt);
  Attempt wanted(const PreparedCase& prepared, Pass pass) const;
  AttemptState& keep(AttemptState state);
  void count(const Launch& launch, AttemptState& state) const;
  Status reopen(AttemptState& state);
  Status settle(AttemptState& state, const std::vector<Launch>& launches);

  void skip_order(const std::vector<Launch>& launches);

  AttemptScope scope_;
  LaunchPlan plan_;
  ResultStore& store_;
  std::deque<AttemptState> states_;
  std::map<Key, AttemptState*> by_key_;
  std::shared_ptr<LaunchOrder> order_;
};

}  // namespace assay
