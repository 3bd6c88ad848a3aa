#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/result_flags.h"
#include "assay/cli/verb.h"
#include "assay/runs/run_overview.h"
#include "assay/store/result_store.h"

namespace assay::cli {

/// The ways to name a run on a command line.
inline constexpr const char* kRunReferences =
    "Run id, the beginning of one, latest, latest:VERB or label:KEY=VALUE";

/// Newest first. None if the default store was not made yet. Errors: the store's.
Result<std::vector<RunOverview>> find_overviews(const StoreFlags& flags, const RunFilter& filter);

/// Writes the runs that the filter lets through. Errors: those of find_overviews, and of writing.
Status show_runs(const StoreFlags& flags, const RunFilter& filter, const ResultFlags& output);

Execute declare_remove_runs(CLI::App& app);  ///< `assay runs rm`
Execute declare_prune_runs(CLI::App& app);   ///< `assay runs prune`, `assay store prune`
Execute declare_tag_run(CLI::App& app);      ///< `assay runs tag`, `assay store tag`

}  // namespace assay::cli
