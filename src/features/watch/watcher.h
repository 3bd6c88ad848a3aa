#pragma once

#include "features/repository/repository_spec.h"
#include "features/watch/events.h"
#include "features/watch/next_steps.h"
#include "features/watch/reference.h"
#include "features/watch/revision_runner.h"
#include "features/watch/run_points.h"
#include "features/watch/verify.h"
#include "features/watch/watch_view.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/repository.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay::watch {

/// Decides and does the next step on one repository, again and again. Everything that it knows is
/// in the store: one that dies loses the current step at most, and the next one goes on with it.
class Watcher {
 public:
  struct Parts {
    const RepositorySpec& spec;
    const BuildEnvironment& environment;
    ResultStore& store;
    RevisionRunner& runner;
    WatchListener& listener;
    std::function<std::int64_t()> now_unix_ns;
    std::string pinned = {};  ///< Hash of the pinned reference.
    WatchFilter filter = {};
  };

  /// `revisions`: of the branch within the horizon, newest first. Errors: kInvalidArgument for a
  /// wrong reference policy.
  static Result<Watcher> make(Parts parts, std::vector<Revision> revisions);

  /// False where nothing is left to do. Errors: what stops the whole (RevisionRunner).
  Result<bool> take_step();

  /// The commits that are there now, and the position after which they are measured.
  void set_revisions(std::vector<Revision> revisions, std::int64_t since_position) {
    revisions_ = std::move(revisions);
    parts_.filter.since_position = since_position;
  }

 private:
  Watcher(Parts parts, ReferencePolicy policy, std::vector<Revision> revisions)
      : parts_(std::move(parts)), policy_(std::move(policy)), revisions_(std::move(revisions)) {}

  Result<WatchView> read();
  /// Adds the points of the newest run, should the process that made it have died before it did.
  Status recover_points();
  Status update_incidents(const WatchView& view);
  /// Stores that cases of the incident became fixed.
  Status close(const Incident& incident);
  Status send_messages(const WatchView& view);
  void tell(const Incident& incident);
  Status measure(const WatchView& view, const WatchStep& step);
  /// A reference whose own level is not known yet, so that points against it could not be compared
  /// with others; nullptr: there is none.
  [[nodiscard]] const Revision* find_unjoined(const WatchView& view,
                                              const RevisionBuild& reference) const;
  Status measure_build(const WatchView& view, const Revision& revision, RevisionBuild build,
                       int rounds);
  Result<std::optional<RevisionBuild>> build_reference(const WatchView& view,
                                                       const Revision& revision);
  Status measure_sitting(const Sitting& sitting, int rounds);
  Status keep_points(const Run& run, const Sitting& sitting);
  Status work_on_incident(const WatchView& view, const WatchStep& step);
  [[nodiscard]] double verification_share() const;

  Parts parts_;
  ReferencePolicy policy_;
  std::vector<Revision> revisions_;
  bool has_recovered_ = false;
  std::int64_t verification_ns_ = 0;
  std::int64_t all_ns_ = 0;
};

}  // namespace assay::watch
