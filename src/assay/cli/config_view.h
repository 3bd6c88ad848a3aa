#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "assay/base/json.h"
#include "assay/config/configuration.h"

namespace assay::cli {

/// A table of all keys: value and origin. `file`: the user's.
std::string console_from_configuration(const Configuration& configuration,
                                       const std::filesystem::path& file);

/// A document with value, origin and all columns of the table of keys; schema
/// assay/configuration/1.
Json document_from_configuration(const Configuration& configuration,
                                 const std::filesystem::path& file);

}  // namespace assay::cli
