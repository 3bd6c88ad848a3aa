#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/campaign/listener.h"
#include "assay/cli/progress_text.h"

namespace assay::cli {

/// Shows on stderr how a campaign goes on: one line that changes on a terminal; in a log a line for
/// each phase, one for each minute of a long phase, and one for each failed step; nothing with
/// `is_quiet`.
class Progress : public CampaignListener {
 public:
  explicit Progress(bool is_quiet);
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
  PhaseState phase_;
  std::vector<RunningStep> running_;   ///< The one that was heard of last comes last.
  std::set<std::string> unsupported_;  ///< Lines that were told, each once.
  std::int64_t logged_ns_ = 0;         ///< When the log got its last line.
  std::int64_t shown_ns_ = 0;          ///< When the terminal got its last line.
};

}  // namespace assay::cli
