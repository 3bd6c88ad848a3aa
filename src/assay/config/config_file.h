#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// Whose file it is; a project's may have few keys, because it came with somebody's repository.
enum class ConfigScope : std::uint8_t { kUser, kProject };

/// Name of a project's file, in a folder or above it.
inline constexpr const char* kProjectConfigName = "assay.json";

/// $XDG_CONFIG_HOME/assay/config.json, else ~/.config/assay/config.json. Empty where neither
/// variable has a whole path: a file below the current folder may be anybody's.
std::filesystem::path user_config_file();

/// The nearest assay.json, in the folder or above it, that is a configuration; empty if there is
/// none. A file that does not name the schema, such as a spec or another tool's, is passed over,
/// and so is one that belongs to neither this user, the administrator nor the owner of `folder`.
/// Errors: those of parse_json, for a file that names the schema.
Result<std::filesystem::path> find_project_config(const std::filesystem::path& folder);

/// The document of a file without a key.
Json empty_config();

/// Reads and checks a file; `empty_config()` if there is none. Errors: kInvalidArgument with
/// every problem on a line of its own, and how to go on; kUnsupported for another schema version.
Result<Json> read_config_file(const std::filesystem::path& file, ConfigScope scope);

/// Checks a document: schema, keys, form of the values. Errors: as read_config_file.
Status check_config(const Json& document, std::string_view origin, ConfigScope scope);

/// Writes with mode 0600, whole or not at all; a link keeps pointing to what it points to.
/// Errors: kUnavailable (an empty path, too), kExhausted.
Status write_config_file(const std::filesystem::path& file, const Json& document);

/// Renames the file to "config.json.old", or with a number where that is taken, and returns the new
/// name; empty if there is no file. Errors: kUnavailable.
Result<std::filesystem::path> move_config_aside(const std::filesystem::path& file);

}  // namespace assay
