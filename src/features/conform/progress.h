#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/campaign/listener.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"

namespace assay {

/// Passes a campaign's progress on without its failures, which are no findings before they were
/// judged alone, and adds up the time of its phases.
class ConformProgress : public CampaignListener {
 public:
  explicit ConformProgress(CampaignListener& listener);
  void on_phase(std::string_view name, std::string_view unit,
                const PhaseProgress& progress) override;
  void on_progress(const PhaseProgress& progress) override;
  void on_step_started(std::string_view label, std::string_view stage) override;
  void on_step_finished(std::string_view label, Outcome outcome, std::string_view text) override;
  void on_note(std::string_view text) override;
  void on_wait() override;
  bool should_stop() override;

  /// Ends the current phase.
  void close();
  [[nodiscard]] const std::vector<ConformStage>& stages() const { return stages_; }

 private:
  CampaignListener& listener_;
  std::vector<ConformStage> stages_;
  std::string phase_;
  std::int64_t begin_ns_ = 0;
};

}  // namespace assay
