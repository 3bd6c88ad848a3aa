#include "assay/measure/observe.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/device/memory_parts.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/measure/memory_probe.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

Status check_iterations(int iterations) {
  if (iterations < 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} iterations: at least one is needed", iterations));
  }
  return {};
}

std::vector<NamedBytes> declared_memory_of(Session& session) {
  if (auto* reporter = find_extension<MemoryReporter>(session)) {
    return reporter->declared_memory();
  }
  return session.report().declared_memory;
}

/// Takes readings into a report, and keeps what the cheapest of them cost.
class Recorder {
 public:
  Recorder(MemoryReport& report, const MemoryPass& pass, const MemoryProbe& probe)
      : report_(report), pass_(pass), probe_(probe) {}

  /// `session` may be null.
  Status take(std::string_view name, Session* session) {
    const auto allocations = probe_.read_allocations();
    const auto before_ns = monotonic_ns();
    ASSAY_ASSIGN_OR_RETURN(MemoryStage stage, probe_.read_stage(name, pass_.program_files));
    report_.probe_ns = std::min(report_.probe_ns, monotonic_ns() - before_ns);
    if (const auto after = probe_.read_allocations(); allocations && after) {
      const auto bytes = after->total_bytes - allocations->total_bytes;
      report_.probe_bytes = std::min(report_.probe_bytes.value_or(bytes), bytes);
    }
    if (session != nullptr) {
      report_.declared = declared_memory_of(*session);
      split_declared(report_.declared, stage.parts);
    }
    report_.stages.push_back(std::move(stage));
    return {};
  }

 private:
  MemoryReport& report_;
  const MemoryPass& pass_;
  const MemoryProbe& probe_;
};

/// Runs the inferences between "first" and "steady" and counts what they allocate.
Status infer_counted(Session& session, std::span<const TensorView> inputs, int count,
                     const MemoryProbe& probe, MemoryReport& report) {
  const auto before = probe.read_allocations();
  for (int i = 0; i < count; ++i) {
    ASSAY_RETURN_IF_ERROR(infer_once(session, inputs));
  }
  if (const auto after = probe.read_allocations(); before && after) {
    report.inference_allocations = after->count - before->count;
  }
  report.inferences = count;
  return {};
}

}  // namespace

Result<MemoryReport> observe_memory(std::unique_ptr<Session> session,
                                    std::span<const TensorView> inputs, const MemoryPass& pass,
                                    const MemoryProbe& probe, const StageListener& listener) {
  ASSAY_RETURN_IF_ERROR(check_iterations(pass.iterations));
  MemoryReport report;
  report.stages = {pass.start, pass.loaded};
  report.probe_ns = std::numeric_limits<std::int64_t>::max();
  report.allocations_unavailable = probe.allocations_unavailable;
  split_declared(declared_memory_of(*session), report.stages.back().parts);
  Recorder recorder(report, pass, probe);

  notify(listener, Stage::kFirst);
  ASSAY_RETURN_IF_ERROR(infer_once(*session, inputs));
  ASSAY_RETURN_IF_ERROR(recorder.take("first", session.get()));

  notify(listener, Stage::kSteady);
  ASSAY_RETURN_IF_ERROR(infer_counted(*session, inputs, pass.iterations, probe, report));
  ASSAY_RETURN_IF_ERROR(recorder.take("steady", session.get()));
  report.unattributed_bytes = bytes_of_part(report.stages.back().parts, "unattributed");

  notify(listener, Stage::kUnload);
  session.reset();
  ASSAY_RETURN_IF_ERROR(recorder.take("unloaded", nullptr));
  return report;
}

}  // namespace assay
