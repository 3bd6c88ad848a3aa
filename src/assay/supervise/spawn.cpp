#include "assay/supervise/spawn.h"

#include <utility>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/device/conditions.h"
#include "assay/record/spawn.h"
#include "assay/supervise/child_process.h"
#include "assay/supervise/supervisor.h"
#include "assay/wire/sigpipe_guard.h"

namespace assay {

Result<SpawnResult> spawn_and_wait(const SpawnRequest& request, const SpawnCancel& cancel) {
  const wire::SigpipeGuard guard;
  auto before = read_conditions();
  const auto start_ns = monotonic_ns();
  ASSAY_ASSIGN_OR_RETURN(auto child, start_child(request));
  Supervisor supervisor(std::move(child), request, cancel, start_ns);
  ASSAY_RETURN_IF_ERROR(supervisor.run());
  auto result = supervisor.take_result();
  result.before = std::move(before);
  result.after = read_conditions();
  return result;
}

}  // namespace assay
