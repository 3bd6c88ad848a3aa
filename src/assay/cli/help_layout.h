#pragma once

#include <CLI/CLI.hpp>

namespace assay::cli {

/// The group of flags that say what a file of another tool leaves open. They are declared with it.
inline constexpr const char* kImports = "Files of FAI-PEP";

/// Gives the help of a verb, and of the verbs below it, its form: flags in groups, what each takes
/// by a telling name, and an example at the end. `example`: a command line; null: none.
void lay_out_help(CLI::App& verb, const char* example);

/// True if the short help shows a flag.
bool is_main_flag(const CLI::Option& option);

}  // namespace assay::cli
