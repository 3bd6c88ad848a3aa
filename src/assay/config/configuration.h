#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// Where a value comes from, the weakest first. A spec stands between project and environment, a
/// flag above all; neither is known here.
enum class ConfigOrigin : std::uint8_t { kBuiltIn, kUser, kProject, kEnvironment };

/// A value that differs from the built-in one.
struct ConfigValue {
  Json value;  ///< Paths are whole.
  ConfigOrigin origin = ConfigOrigin::kUser;
  std::string place;  ///< File, or variable with its "$".
};

/// The values of all keys, the strongest origin of each.
class Configuration {
 public:
  /// Replaces the value of a key, whatever its origin.
  void set(std::string_view key, ConfigValue value);
  /// Null: the built-in value holds.
  [[nodiscard]] const ConfigValue* find(std::string_view key) const;
  /// The value as it is typed; empty: the built-in value holds.
  [[nodiscard]] std::string text(std::string_view key) const;

 private:
  std::map<std::string, ConfigValue, std::less<>> values_;
};

/// Sources of a configuration.
struct ConfigSources {
  std::filesystem::path user_file;
  std::filesystem::path folder;  ///< The current one; project files are in it or above.
  std::function<std::string(std::string_view)> variable;  ///< Empty text: not set.
};

/// The user's file, the current folder and the environment of this process.
ConfigSources sources_of_process();

/// Reads all sources. Values of variables are not checked: whoever reads the variable does that.
/// Errors: those of read_config_file and find_project_config.
Result<Configuration> load_configuration(const ConfigSources& sources);

/// Sets the variables of exported keys for this process and its children, unless they are set.
void export_configuration(const Configuration& configuration);

}  // namespace assay
