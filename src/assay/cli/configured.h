#pragma once

#include "features/repository/repository_spec.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "assay/base/result.h"
#include "assay/config/configuration.h"

namespace assay::cli {

/// The configuration of this process; without a value until `use_configuration`.
const Configuration& configuration();

/// Makes it that of this process: its variables are exported, and `configuration()` returns it.
void use_configuration(Configuration read);

/// Gives the flags of the verbs the configured values as their defaults. Errors: kInvalidArgument
/// for a value that a flag refuses.
Status set_configured_defaults(CLI::App& app);

/// Reads a repository file; a file without "keep_builds" has the configured limit. Errors: those of
/// read_repository_file.
Result<RepositorySpec> read_configured_repository(const std::filesystem::path& file);

}  // namespace assay::cli
