#pragma once

#include <CLI/CLI.hpp>

#include "assay/base/result.h"
#include "assay/conform/conform_options.h"
#include "assay/spec/spec.h"

namespace assay::cli {

/// The flags of the options; they outlive `app`.
void declare_conform_options(CLI::App& app, ConformOptions& options);

/// A spec with these recipes, engines and options, and a model that stands for all cases.
/// Errors: as a spec's.
Result<Spec> spec_from_conform_options(const ConformOptions& options, SpecContext context);

}  // namespace assay::cli
