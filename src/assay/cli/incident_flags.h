#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "assay/base/result.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/watch_setup.h"

namespace assay::cli {

/// Flags by which a person gives a state to an incident.
struct IncidentFlags {
  std::string acknowledged;  ///< Id, or its beginning.
  std::string accepted;
  std::string note;

  void declare(CLI::App& app);
  [[nodiscard]] bool is_given() const { return !(acknowledged + accepted + note).empty(); }
};

/// Gives the state and prints the incident. Nothing is fetched, and a watcher may be at work.
/// Errors: those of watch::find_incident and watch::changed_by_hand, and of the store.
Result<ExitCode> change_incident(const WatchFlags& watch, const IncidentFlags& flags);

}  // namespace assay::cli
