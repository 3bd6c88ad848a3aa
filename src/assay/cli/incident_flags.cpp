#include "assay/cli/incident_flags.h"

#include "features/repository/repository_spec.h"
#include "features/watch/incident_by_hand.h"
#include "features/watch/watch_view.h"

#include <string>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/watch_setup.h"
#include "assay/record/incident.h"

namespace assay::cli {

void IncidentFlags::declare(CLI::App& app) {
  auto* acknowledge = app.add_option("--acknowledge", acknowledged,
                                     "Note that somebody works on an incident (see --status)");
  app.add_option("--accept", accepted,
                 "Take the change of an incident as a known price: it is closed, and the new level "
                 "is the base")
      ->excludes(acknowledge);
  app.add_option("--note", note, "With --acknowledge or --accept: the reason, for --status");
}

Result<ExitCode> change_incident(const WatchFlags& watch, const IncidentFlags& flags) {
  if (flags.acknowledged.empty() && flags.accepted.empty()) {
    return fail(ErrorCode::kInvalidArgument, "--note needs --acknowledge or --accept");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto spec, read_repository_file(watch.file));
  ASSAY_ASSIGN_OR_RETURN(const auto store, watch.store.open_existing());
  ASSAY_ASSIGN_OR_RETURN(const auto incidents, store->incidents_of(spec.repository.id()));
  const bool is_accepted = !flags.accepted.empty();
  ASSAY_ASSIGN_OR_RETURN(
      const auto incident,
      watch::find_incident(incidents, is_accepted ? flags.accepted : flags.acknowledged));
  const watch::StateByHand change{
      .state = is_accepted ? IncidentState::kAccepted : IncidentState::kAcknowledged,
      .note = flags.note};
  ASSAY_ASSIGN_OR_RETURN(const auto next, watch::changed_by_hand(incident, change, unix_time_ns()));
  ASSAY_RETURN_IF_ERROR(store->update_incident(next));
  print_out("{}  {}, was {}: {}\n", next.id, name_of(next.state), name_of(incident.state),
            watch::title_of(next));
  return ExitCode::kOk;
}

}  // namespace assay::cli
