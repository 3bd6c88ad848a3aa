#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/campaign/listener.h"

namespace assay::cli {

/// Shows on stderr how a campaign goes on: one line that changes on a terminal, a line per finished
/// step otherwise, nothing with `is_quiet`.
class Progress : public CampaignListener {
 public:
  explicit Progress(bool is_quiet);
  ~Progress() override;
  void on_phase(std::string_view name, int total) override;
  void on_step_started(std::string_view label) override;
  void on_step_finished(std::string_view label, Outcome outcome, std::string_view text,
                        std::int64_t remaining_ns) override;
  void on_note(std::string_view text) override;
  bool should_stop() override;

 private:
  void show_line();
  void clear_line();
  bool is_quiet_;
  bool is_terminal_;
  std::string phase_;
  std::string running_;
  int total_ = 0;
  int done_ = 0;
  std::int64_t remaining_ns_ = -1;
};

}  // namespace assay::cli
