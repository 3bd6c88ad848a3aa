#include "assay/config/configuration.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/config/config_file.h"
#include "assay/config/config_key.h"
#include "assay/config/config_value.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

std::string variable_of_process(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  return value == nullptr ? "" : value;
}

Status add_file(const stdfs::path& file, ConfigScope scope, Configuration& configuration) {
  ASSAY_ASSIGN_OR_RETURN(const auto document, read_config_file(file, scope));
  const auto origin = scope == ConfigScope::kUser ? ConfigOrigin::kUser : ConfigOrigin::kProject;
  for (const auto& key : config_keys()) {
    if (const auto found = document.find(key.name); found != document.end()) {
      configuration.set(
          key.name,
          {.value = expanded_config_value(key, *found), .origin = origin, .place = file.string()});
    }
  }
  return {};
}

void add_variables(const ConfigSources& sources, Configuration& configuration) {
  for (const auto& key : config_keys()) {
    const auto text = key.variable.empty() ? std::string() : sources.variable(key.variable);
    if (!text.empty()) {
      configuration.set(
          key.name, {.value = key.variable_value.empty() ? text : std::string(key.variable_value),
                     .origin = ConfigOrigin::kEnvironment,
                     .place = fmt::format("${}", key.variable)});
    }
  }
}

}  // namespace

void Configuration::set(std::string_view key, ConfigValue value) {
  values_.insert_or_assign(std::string(key), std::move(value));
}

const ConfigValue* Configuration::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::string Configuration::text(std::string_view key) const {
  const auto* const found = find(key);
  return found == nullptr ? "" : text_from_config_value(found->value);
}

ConfigSources sources_of_process() {
  std::error_code error;
  return {.user_file = user_config_file(),
          .folder = stdfs::current_path(error),
          .variable = variable_of_process};
}

Result<Configuration> load_configuration(const ConfigSources& sources) {
  Configuration configuration;
  ASSAY_RETURN_IF_ERROR(add_file(sources.user_file, ConfigScope::kUser, configuration));
  ASSAY_ASSIGN_OR_RETURN(const auto project, find_project_config(sources.folder));
  if (!project.empty()) {
    ASSAY_RETURN_IF_ERROR(add_file(project, ConfigScope::kProject, configuration));
  }
  add_variables(sources, configuration);
  return configuration;
}

void export_configuration(const Configuration& configuration) {
  for (const auto& key : config_keys()) {
    if (const auto text = configuration.text(key.name); key.is_exported && !text.empty()) {
      // An empty variable counts as none here as it does where the configuration reads it.
      const std::string variable(key.variable);
      const char* const before = std::getenv(variable.c_str());
      ::setenv(variable.c_str(), text.c_str(), before == nullptr || *before == '\0' ? 1 : 0);
    }
  }
}

}  // namespace assay
