#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/fleet/open_executor.h"

namespace assay::cli {

/// Adds --executor.
void declare_executor(CLI::App& app, std::string& executor);

/// Opens an executor of devices.json. `python`: as --python. Errors: those of Inventory::read(),
/// Inventory::get_executor() and open_executor().
Result<ConfiguredExecutor> open_executor_named(const std::string& name, const std::string& python);

}  // namespace assay::cli
