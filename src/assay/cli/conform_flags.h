#pragma once

#include "features/conform/conform_options.h"

#include <CLI/CLI.hpp>
#include <string>

#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/spec/spec.h"

namespace assay::cli {

/// The flags of the options; they outlive `app`.
void declare_conform_options(CLI::App& app, ConformOptions& options);

/// Notes the flags of a new run that decide what it judges and how, so that it can go on as it was.
void keep_flags(const RunFlags& flags, const std::string& known_folder, ConformOptions& options);

/// Sets the flags that a resumed run was started with and that are not given anew.
void restore_flags(const ConformOptions& options, RunFlags& flags, std::string& known_folder);

/// A spec with these recipes, engines and options, and a model that stands for all cases.
/// Errors: as a spec's.
Result<Spec> spec_from_conform_options(const ConformOptions& options, SpecContext context);

}  // namespace assay::cli
