#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace assay::cli {

/// What a command line that could not be parsed most likely means, a line for each argument that
/// `app` and the verb in it do not know: a verb, or a flag of the verb. Empty where nothing is
/// near.
std::vector<std::string> suggest_arguments(const CLI::App& app);

}  // namespace assay::cli
