#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace assay::cli {

/// Explains why `app` could not parse its command line, one line for each fault: an unknown verb or
/// flag with the nearest known one, an unexpected argument, or `error` itself; each line says what
/// to do.
std::vector<std::string> explain_arguments(const CLI::App& app, const CLI::ParseError& error);

}  // namespace assay::cli
