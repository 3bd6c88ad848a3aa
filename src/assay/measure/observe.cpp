#include "assay/measure/observe.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr int kProfileWarmup = 3;

void note(const StageListener& listener, Stage stage) {
  if (listener) {
    listener(stage);
  }
}

Status check_iterations(int iterations) {
  if (iterations < 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} iterations: at least one is needed", iterations));
  }
  return {};
}

Status infer_times(Session& session, std::span<const TensorView> inputs, int count) {
  for (int i = 0; i < count; ++i) {
    ASSAY_RETURN_IF_ERROR(infer_once(session, inputs));
  }
  return {};
}

std::vector<NamedBytes> declared_memory_of(Session& session) {
  if (auto* teller = find_power<MemoryTeller>(session)) {
    return teller->declared_memory();
  }
  return session.report().declared_memory;
}

/// Takes readings into a report, and keeps the cheapest reading's time.
class Recorder {
 public:
  Recorder(MemoryReport& report, const MemoryReader& reader) : report_(report), reader_(reader) {}

  Status take(std::string_view name) {
    const std::int64_t before = monotonic_ns();
    ASSAY_ASSIGN_OR_RETURN(MemoryStage stage, reader_(name));
    report_.probe_ns = std::min(report_.probe_ns, monotonic_ns() - before);
    report_.stages.push_back(std::move(stage));
    return {};
  }

 private:
  MemoryReport& report_;
  const MemoryReader& reader_;
};

std::int64_t sum_of(const std::vector<NamedBytes>& parts) {
  std::int64_t sum = 0;
  for (const auto& part : parts) {
    sum += part.bytes;
  }
  return sum;
}

Status profile_loop(Session& session, Profiler& profiler, std::span<const TensorView> inputs,
                    int iterations, ProfileReport& report) {
  ASSAY_RETURN_IF_ERROR(profiler.start());
  const Status ran = infer_times(session, inputs, iterations);
  auto stopped = profiler.stop(iterations);
  ASSAY_RETURN_IF_ERROR(ran);
  ASSAY_ASSIGN_OR_RETURN(report, std::move(stopped));
  return {};
}

}  // namespace

Result<MemoryReport> observe_memory(std::unique_ptr<Session> session,
                                    std::span<const TensorView> inputs, int iterations,
                                    const MemoryStage& start, const MemoryStage& loaded,
                                    const MemoryReader& reader, const StageListener& listener) {
  ASSAY_RETURN_IF_ERROR(check_iterations(iterations));
  MemoryReport report;
  report.stages = {start, loaded};
  report.probe_ns = std::numeric_limits<std::int64_t>::max();
  Recorder recorder(report, reader);

  note(listener, Stage::kFirst);
  ASSAY_RETURN_IF_ERROR(infer_once(*session, inputs));
  ASSAY_RETURN_IF_ERROR(recorder.take("first"));

  note(listener, Stage::kSteady);
  ASSAY_RETURN_IF_ERROR(infer_times(*session, inputs, iterations));
  ASSAY_RETURN_IF_ERROR(recorder.take("steady"));
  report.declared = declared_memory_of(*session);
  report.unattributed_bytes = report.stages.back().private_dirty_bytes - start.private_dirty_bytes -
                              sum_of(report.declared);

  note(listener, Stage::kUnload);
  session.reset();
  ASSAY_RETURN_IF_ERROR(recorder.take("unloaded"));
  return report;
}

Result<ProfileReport> observe_profile(Session& session, std::span<const TensorView> inputs,
                                      int iterations, const StageListener& listener) {
  ASSAY_RETURN_IF_ERROR(check_iterations(iterations));
  auto* profiler = find_power<Profiler>(session);
  if (profiler == nullptr) {
    return fail(ErrorCode::kUnsupported, "this engine has no profiler");
  }
  ProfileReport report;
  note(listener, Stage::kFirst);
  ASSAY_RETURN_IF_ERROR(profile_loop(session, *profiler, inputs, kProfileWarmup, report));
  note(listener, Stage::kSteady);
  ASSAY_RETURN_IF_ERROR(profile_loop(session, *profiler, inputs, iterations, report));
  return report;
}

}  // namespace assay
