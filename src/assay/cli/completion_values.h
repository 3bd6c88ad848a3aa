#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

#include "assay/cli/completion.h"

namespace assay::cli {

/// The values that an option takes, as far as they can be listed without starting an engine or a
/// toolchain, and whether it takes names of files. `typed`: the value so far; behind file.py: the
/// functions and classes of that file are values.
Completion values_of_option(CLI::Option& option, std::string_view typed);

}  // namespace assay::cli
