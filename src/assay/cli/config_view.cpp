#include "assay/cli/config_view.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/config/config_key.h"
#include "assay/config/config_value.h"
#include "assay/config/configuration.h"

namespace assay::cli {
namespace {

constexpr const char* kBuiltIn = "built in";

/// The value of a key that nothing sets, as this process finds it.
std::string built_in_value(const ConfigKey& key, const Configuration& configuration) {
  const auto home = configuration.text("home");
  if (key.name == "home") {
    return assay_home().string();
  }
  if (key.name == "store") {
    return ((home.empty() ? assay_home() : std::filesystem::path(home)) / "assay.db").string();
  }
  return key.name == "python" ? default_python({}).string() : std::string(key.built_in);
}

struct ConfigRow {
  std::string name;
  std::string value;
  std::string origin;
};

ConfigRow row_of_key(const ConfigKey& key, const Configuration& configuration) {
  const auto* const found = configuration.find(key.name);
  return {.name = std::string(key.name),
          .value = found == nullptr ? built_in_value(key, configuration)
                                    : text_from_config_value(found->value),
          .origin = found == nullptr ? kBuiltIn : found->place};
}

}  // namespace

std::string console_from_configuration(const Configuration& configuration,
                                       const std::filesystem::path& file) {
  std::vector<ConfigRow> rows = {{"key", "value", "origin"}};
  for (const auto& key : config_keys()) {
    rows.push_back(row_of_key(key, configuration));
  }
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const auto& row : rows) {
    name_width = std::max(name_width, row.name.size());
    value_width = std::max(value_width, row.value.size());
  }
  std::error_code error;
  auto text = fmt::format("{}{}\n\n", file.empty() ? "the configuration" : file.string(),
                          std::filesystem::exists(file, error) ? "" : " (does not exist)");
  for (const auto& row : rows) {
    text += fmt::format("{:<{}}  {:<{}}  {}\n", row.name, name_width, row.value, value_width,
                        row.origin);
  }
  return text;
}

Json document_from_configuration(const Configuration& configuration,
                                 const std::filesystem::path& file) {
  Json keys = Json::array();
  for (const auto& key : config_keys()) {
    const auto row = row_of_key(key, configuration);
    keys.push_back({{"key", key.name},
                    {"value", row.value},
                    {"origin", row.origin},
                    {"values", form_of_values(key)},
                    {"built_in", key.built_in},
                    {"variable", key.variable},
                    {"flag", key.flag},
                    {"project", key.may_be_in_project},
                    {"meaning", key.meaning}});
  }
  return {{"schema", "assay/configuration/1"}, {"file", file.string()}, {"keys", keys}};
}

}  // namespace assay::cli
