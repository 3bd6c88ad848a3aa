#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/record/axes.h"

namespace assay {

/// Hears how a campaign goes on. Every call comes from the campaign's thread; the defaults do
/// nothing.
class CampaignListener {
 public:
  virtual ~CampaignListener() = default;
  /// "artifacts", "evaluate", "memory", "profile", "timing" begins with `total` steps.
  virtual void on_phase(std::string_view /*name*/, int /*total*/) {}
  virtual void on_step_started(std::string_view /*label*/) {}
  /// `remaining_ns`: what the rest of the phase is expected to take; -1 when nothing is known yet.
  virtual void on_step_finished(std::string_view /*label*/, Outcome /*outcome*/,
                                std::string_view /*text*/, std::int64_t /*remaining_ns*/) {}
  virtual void on_note(std::string_view /*text*/) {}
  /// True asks the campaign to stop after the step at hand.
  virtual bool should_stop() { return false; }
};

}  // namespace assay
