// `assay runs rm` and `assay runs prune`.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/run_filter_flags.h"
#include "assay/cli/verb.h"
#include "assay/cli/verb_runs.h"
#include "assay/report/format.h"
#include "assay/runs/removal.h"
#include "assay/runs/run_overview.h"
#include "assay/store/prune.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

std::string counted_runs(std::size_t count) { return report::counted(count, "run"); }

void tell_dry_run(const std::vector<RunListing>& listings) {
  for (const auto& listing : listings) {
    print_out("would remove {}\n", line_from_listing(listing));
  }
  print_out("{} would be removed\n", counted_runs(listings.size()));
}

/// Says what becomes of the room of removed runs. It goes back to the file system where that is
/// soon done: while a store is written anew, nobody else writes to it.
Status give_room_back(ResultStore& store, std::size_t removed) {
  ASSAY_ASSIGN_OR_RETURN(const auto room, store.room());
  if (!is_soon_shrunk(room)) {
    print_out("{} removed; the room is used again, and assay store vacuum gives it back\n",
              counted_runs(removed));
    return {};
  }
  const auto freed = store.vacuum();
  if (!freed) {
    print_out("{} removed; the store keeps its size, as {}; its room is used again\n",
              counted_runs(removed), freed.error().message);
    return {};
  }
  print_out("{} removed; the store takes {} less\n", counted_runs(removed),
            text_from_bytes(static_cast<double>(*freed)));
  return {};
}

struct RemoveRunsOptions {
  std::vector<std::string> runs;
  bool is_dry_run = false;
  StoreFlags store;
};

Result<ExitCode> execute_remove_runs(const RemoveRunsOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open_existing());
  ASSAY_ASSIGN_OR_RETURN(const auto listings, get_removable_runs(*store, options.runs));
  if (options.is_dry_run) {
    tell_dry_run(listings);
    return ExitCode::kOk;
  }
  for (const auto& listing : listings) {
    ASSAY_RETURN_IF_ERROR(store->remove_run(listing.run.id));
    print_out("removed {}\n", line_from_listing(listing));
  }
  ASSAY_RETURN_IF_ERROR(give_room_back(*store, listings.size()));
  return ExitCode::kOk;
}

struct PruneRunsOptions {
  RunFilterFlags filter;
  int keep = -1;
  std::string older_than;
  std::string larger_than;
  bool is_dry_run = false;
  StoreFlags store;
};

Result<PruneRule> rule_from(const PruneRunsOptions& options) {
  PruneRule rule;
  if (options.keep >= 0) {
    rule.keep_newest = options.keep;
  }
  if (!options.older_than.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto age_ns, duration_ns_from_text(options.older_than));
    rule.started_before_ns = unix_time_ns() - age_ns;
  }
  if (!options.larger_than.empty()) {
    ASSAY_ASSIGN_OR_RETURN(rule.bigger_than_bytes, bytes_from_text(options.larger_than));
  }
  if (!rule.keep_newest && !rule.started_before_ns && !rule.bigger_than_bytes) {
    return fail(ErrorCode::kInvalidArgument,
                "say which runs to remove: --keep 20, --older-than 30d or --larger-than 100MB");
  }
  return rule;
}

Result<ExitCode> execute_prune_runs(const PruneRunsOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto rule, rule_from(options));
  ASSAY_ASSIGN_OR_RETURN(const auto filter, options.filter.filter(/*limit=*/-1));
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open_existing());
  ASSAY_ASSIGN_OR_RETURN(const auto chosen, find_runs_to_prune(*store, filter, rule));
  if (options.is_dry_run) {
    tell_dry_run(chosen);
    return ExitCode::kOk;
  }
  const auto on_removed = [](const RunListing& listing) {
    print_out("removed {}\n", line_from_listing(listing));
  };
  const auto on_in_use = [](const std::string& reason) { log_line(LogLevel::kWarning, reason); };
  ASSAY_ASSIGN_OR_RETURN(const auto removed, prune_runs(*store, chosen, on_removed, on_in_use));
  if (removed == 0) {
    print_out("nothing to remove\n");
    return ExitCode::kOk;
  }
  ASSAY_RETURN_IF_ERROR(give_room_back(*store, removed));
  return ExitCode::kOk;
}

}  // namespace

Execute declare_remove_runs(CLI::App& app) {
  auto options = std::make_shared<RemoveRunsOptions>();
  auto* remove = app.add_subcommand("rm", "Remove runs with their measurements");
  remove->add_option("runs", options->runs, kRunReferences)->required();
  remove->add_flag("--dry-run", options->is_dry_run,
                   "Print the runs that would be removed without removing them");
  options->store.declare(*remove);
  return [options] { return execute_remove_runs(*options); };
}

Execute declare_prune_runs(CLI::App& app) {
  auto options = std::make_shared<PruneRunsOptions>();
  auto* prune =
      app.add_subcommand("prune", "Remove runs that meet all conditions; runs in use are kept");
  options->filter.declare(*prune);
  prune->add_option("--keep", options->keep, "Keep this many of the newest runs")
      ->check(CLI::NonNegativeNumber);
  prune->add_option("--older-than", options->older_than,
                    "Remove only runs older than this, such as 30d");
  prune->add_option("--larger-than", options->larger_than,
                    "Remove only runs larger than this, such as 100MB");
  prune->add_flag("--dry-run", options->is_dry_run,
                  "Print the runs that would be removed without removing them");
  options->store.declare(*prune);
  return [options] { return execute_prune_runs(*options); };
}

}  // namespace assay::cli
