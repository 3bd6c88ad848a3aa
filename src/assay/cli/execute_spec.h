#pragma once

#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/spec/spec.h"

namespace assay::cli {

/// All flags of a verb that ends in a campaign.
struct CampaignFlags {
  StoreFlags store;
  ReportFlags report;
  ToolchainFlags toolchain;
  RunFlags run;
  bool has_accuracy_tables = false;

  void declare(CLI::App& app);
};

/// Expands the spec, runs the campaign and writes the reports. `resumed`: the run to go on with.
/// An interruption still reports what was measured, and says how to go on.
Result<ExitCode> execute_spec(const Spec& spec, const CampaignFlags& flags,
                              const std::optional<Run>& resumed = {});

/// Name and arguments of the running program, as it was called; kept with each run.
void remember_argv(int argc, char** argv);

}  // namespace assay::cli
