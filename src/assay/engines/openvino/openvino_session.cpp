#include "assay/engines/openvino/openvino_session.h"

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/engines/openvino/loaded_model.h"
#include "assay/engines/openvino/profile.h"
#include "assay/record/launch.h"

namespace assay::openvino {
namespace {

constexpr std::size_t kReservedSpans = 1024;

}  // namespace

OpenvinoSession::OpenvinoSession(std::unique_ptr<LoadedModel> model, LoadReport report,
                                 Loader load_profiled)
    : model_(std::move(model)),
      report_(std::move(report)),
      load_profiled_(std::move(load_profiled)),
      active_(model_.get()) {}

Status OpenvinoSession::execute() {
  if (!is_profiling_) [[likely]] {
    return active_->execute();
  }
  const auto start_ns = monotonic_ns();
  ASSAY_RETURN_IF_ERROR(active_->execute());
  executed_.push_back({.start_ns = start_ns, .duration_ns = monotonic_ns() - start_ns});
  ++profiled_inferences_;
  return {};
}

void* OpenvinoSession::find_extension(std::string_view tag) {
  if (tag == Profiler::kTag) {
    return static_cast<Profiler*>(this);
  }
  return tag == MemoryReporter::kTag ? static_cast<MemoryReporter*>(this) : nullptr;
}

Result<ProfileState> OpenvinoSession::profile_state() const {
  if (profiled_inferences_ == 0) {
    return ProfileState{};
  }
  ProfileState state{.operators = {}, .inferences = profiled_inferences_};
  ASSAY_ASSIGN_OR_RETURN(state.operators, profiled_->profiling_info());
  return state;
}

Status OpenvinoSession::start() {
  if (profiled_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(profiled_, load_profiled_());
  }
  ASSAY_ASSIGN_OR_RETURN(before_, profile_state());
  executed_.clear();
  executed_.reserve(kReservedSpans);
  active_ = profiled_.get();
  is_profiling_ = true;
  return {};
}

Result<ProfileReport> OpenvinoSession::stop(int iterations) {
  is_profiling_ = false;
  active_ = model_.get();
  ASSAY_ASSIGN_OR_RETURN(const auto after, profile_state());
  auto report = profile_between(before_, after, executed_);
  report.iterations = iterations;
  return report;
}

}  // namespace assay::openvino
