#pragma once

#include <CLI/CLI.hpp>

#include "assay/cli/completion.h"

namespace assay::cli {

/// The values that an option takes, as far as they can be listed without starting an engine or a
/// toolchain, and whether it takes names of files.
Completion values_of_option(CLI::Option& option);

}  // namespace assay::cli
