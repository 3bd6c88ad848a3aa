#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/record/axes.h"

namespace assay {

/// Progress of a phase, in one unit from its beginning to its end.
struct PhaseProgress {
  int done = 0;
  int total = 0;                   ///< 0: not known; never less than `done` otherwise.
  bool is_limit = false;           ///< The phase may end before it reaches `total`.
  std::int64_t remaining_ns = -1;  ///< Expected time to the end of the phase; -1: not known yet.
  std::string device = {};         ///< The one of several that it is about; empty: all.
};

/// Hears how a campaign goes on. Every call comes from the campaign's thread; the defaults do
/// nothing.
class CampaignListener {
 public:
  virtual ~CampaignListener() = default;
  /// A phase begins: "artifacts", "evaluate", "memory", "profile", "timing", "search", … `unit`:
  /// the noun that `progress` counts, in the singular.
  virtual void on_phase(std::string_view /*name*/, std::string_view /*unit*/,
                        const PhaseProgress& /*progress*/) {}
  /// The phase has come further.
  virtual void on_progress(const PhaseProgress& /*progress*/) {}
  /// A step begins, or enters its next `stage`; a step may be less or more than a unit of its
  /// phase.
  virtual void on_step_started(std::string_view /*label*/, std::string_view /*stage*/) {}
  virtual void on_step_finished(std::string_view /*label*/, Outcome /*outcome*/,
                                std::string_view /*text*/) {}
  /// Called several times a second while an artifact is made; never while something is timed.
  virtual void on_wait() {}
  virtual void on_note(std::string_view /*text*/) {}
  /// True asks the campaign to stop after the current step.
  virtual bool should_stop() { return false; }
};

}  // namespace assay
