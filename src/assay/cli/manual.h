#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace assay::cli {

/// The manual page of the program that `app` declares, in the man macros of roff: its verbs, the
/// flags of each, exit codes and environment. `home`: the folder that the help of flags names, for
/// which the page has the default one, so that it is the same wherever it is made.
std::string manual_page(const CLI::App& app, const std::string& home);

}  // namespace assay::cli
