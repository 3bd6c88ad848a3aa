#include "features/conform/progress.h"

#include <algorithm>
#include <string_view>

#include "assay/base/clock.h"
#include "assay/campaign/listener.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"

namespace assay {

ConformProgress::ConformProgress(CampaignListener& listener) : listener_(listener) {}

void ConformProgress::on_phase(std::string_view name, std::string_view unit,
                               const PhaseProgress& progress) {
  close();
  phase_ = name;
  begin_ns_ = monotonic_ns();
  auto found = std::ranges::find(stages_, phase_, &ConformStage::name);
  if (found == stages_.end()) {
    stages_.push_back({.name = phase_});
    found = stages_.end() - 1;
  }
  found->steps += progress.total;
  listener_.on_phase(name, unit, progress);
}

void ConformProgress::on_progress(const PhaseProgress& progress) {
  listener_.on_progress(progress);
}

void ConformProgress::on_step_started(std::string_view label, std::string_view stage) {
  listener_.on_step_started(label, stage);
}

void ConformProgress::on_step_finished(std::string_view label, Outcome /*outcome*/,
                                       std::string_view /*text*/) {
  listener_.on_step_finished(label, Outcome::kCompleted, "");
}

void ConformProgress::on_note(std::string_view text) { listener_.on_note(text); }

void ConformProgress::on_wait() { listener_.on_wait(); }

bool ConformProgress::should_stop() { return listener_.should_stop(); }

void ConformProgress::close() {
  if (phase_.empty()) {
    return;
  }
  const auto found = std::ranges::find(stages_, phase_, &ConformStage::name);
  found->seconds += static_cast<double>(monotonic_ns() - begin_ns_) / 1e9;
  phase_.clear();
}

}  // namespace assay
