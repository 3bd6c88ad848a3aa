#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/engines/command/build_folder.h"
#include "assay/engines/command/command_line.h"
#include "assay/engines/command/command_program.h"
#include "assay/engines/command/printed_values.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::command {

/// Settings of a session besides its program.
struct SessionSettings {
  int threads = 0;                            ///< 0: as the command likes.
  const BuildFolder* build = nullptr;         ///< Outlives the session; null: none.
  std::map<std::string, std::string> places;  ///< Paths by name.
};

/// A command and the folder of its files. Extensions: SelfTimer, SelfProfiler. Every execute is a
/// process of its own.
class CommandSession final : public Session, public SelfTimer, public SelfProfiler {
 public:
  static Result<std::unique_ptr<CommandSession>> open(CommandProgram program, LoadReport report,
                                                      const SessionSettings& settings);

  [[nodiscard]] const LoadReport& report() const override { return report_; }
  /// Writes the files of the inputs.
  Status bind(std::span<const TensorView> inputs) override;
  Status execute() override;
  /// Reads the files of the outputs.
  Result<std::span<const TensorView>> fetch() override;
  Status reset_state() override;
  void* find_extension(std::string_view tag) override;

  Result<Times> time_inferences(const Row& row) override;
  Result<ProfileReport> profile_inferences(int count) override;

 private:
  CommandSession(CommandProgram program, LoadReport report, const SessionSettings& settings,
                 TemporaryFolder folder);
  [[nodiscard]] Result<std::string> run_step(const std::vector<std::string>& argv) const;
  Result<std::string> run(int iterations, int warmup);
  Status remove_old_results();
  Result<PrintedValues> run_for_values(int iterations, int warmup);
  [[nodiscard]] bool warms_up_itself() const;
  Result<Tensor> read_output(std::size_t index) const;

  CommandProgram program_;
  LoadReport report_;
  TemporaryFolder folder_;
  std::map<std::string, std::string> environment_;  ///< That of a step, besides the runner's own.
  Values values_;
  int left_folders_ = 0;  ///< Scratch folders that could not be removed.
  std::vector<Tensor> outputs_;
  std::vector<TensorView> views_;
};

}  // namespace assay::command
