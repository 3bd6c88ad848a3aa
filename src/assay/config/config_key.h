#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// Form of a configured value.
enum class ConfigType : std::uint8_t {
  kText,
  kPath,     ///< Absolute, or from ~/.
  kStore,    ///< A path, or the URL of a database.
  kProgram,  ///< A path, or a name without a slash that is looked up in PATH.
  kSize,     ///< "10GB".
  kInteger,
  kNumber,
  kChoice,
  kCommand,  ///< A list; a text with commas on the command line. The first is as kProgram.
  kFolders,  ///< Such a list of NAME=FOLDER.
};

/// One key of the configuration: a row of the table that the loader, `assay init`, the defaults of
/// flags and the test of docs/reference/configuration.md read.
struct ConfigKey {
  std::string_view name;
  ConfigType type = ConfigType::kText;
  std::string_view built_in;  ///< Value, or in words how it is found.
  std::string_view meaning;
  std::string_view variable = {};        ///< Environment variable; empty: none.
  std::string_view variable_value = {};  ///< Value while the variable is set; empty: its text.
  bool is_exported = false;              ///< Modules below and child processes read the variable.
  std::string_view flag = {};
  /// Verbs whose `flag` takes the value as its default; "engine gc" is a verb below another.
  std::span<const std::string_view> verbs = {};
  bool may_be_in_project = false;  ///< A file that came with a repository may set it.
  bool is_asked = false;           ///< `assay init` asks for it on a terminal.
  double least = 0;                ///< Range of numbers.
  double most = 0;
  std::span<const std::string_view> choices = {};
};

std::span<const ConfigKey> config_keys();

/// Errors: kNotFound with did-you-mean.
Result<const ConfigKey*> get_config_key(std::string_view name);

/// "an integer from 1 to 1000", "one of auto, never": the form of a key's values in words.
std::string form_of_values(const ConfigKey& key);

/// Names of all keys, or of those that a project file may have.
std::vector<std::string> names_of_config_keys(bool is_project = false);

}  // namespace assay
