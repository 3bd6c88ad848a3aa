#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/campaign/listener.h"
#include "assay/cli/progress_text.h"

namespace assay::cli {

/// Who tells why a step failed: the progress, or a report that follows on the same console.
enum class Reasons : std::uint8_t { kHere, kInReport };

/// Shows on stderr how a campaign goes on: one line that changes on a terminal; in a log a line for
/// each phase, one for each minute of a long phase, and one for each failure; nothing with
/// `is_quiet`. A failure that comes again, in a later pass of its case, is not told again.
class Progress : public CampaignListener {
 public:
  explicit Progress(bool is_quiet, Reasons reasons = Reasons::kHere);
  ~Progress() override;
  void on_phase(std::string_view name, std::string_view unit,
                const PhaseProgress& progress) override;
  void on_progress(const PhaseProgress& progress) override;
  void on_step_started(std::string_view label, std::string_view stage) override;
  void on_step_finished(std::string_view label, Outcome outcome, std::string_view text) override;
  void on_wait() override;
  void on_note(std::string_view text) override;
  bool should_stop() override;

 private:
  struct RunningStep {
    std::string label;
    std::string stage;
    std::int64_t start_ns = 0;
  };

  void show_line();
  void clear_line();
  void log_each_minute();
  [[nodiscard]] std::string running_text() const;

  bool is_quiet_;
  bool is_terminal_;
  Reasons reasons_;
  std::set<std::pair<std::string, std::string>> told_;  ///< Labels of failed steps, and reasons.
  PhaseState phase_;
  std::vector<RunningStep> running_;  ///< The one that was heard of last comes last.
  std::int64_t logged_ns_ = 0;        ///< When the log got its last line.
  std::int64_t shown_ns_ = 0;         ///< When the terminal got its last line.
};

}  // namespace assay::cli
