#include "assay/cli/configured.h"

#include "features/repository/repository_spec.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/config/config_key.h"
#include "assay/config/configuration.h"

namespace assay::cli {
namespace {

Configuration& configuration_of_process() {
  static Configuration current;
  return current;
}

/// The option of a verb, which may be one below another: "engine gc".
CLI::Option* option_of_verb(CLI::App& app, std::string_view verb, std::string_view flag) {
  auto* found = &app;
  std::istringstream names{std::string(verb)};
  for (std::string name; names >> name;) {
    found = found->get_subcommand(name);
  }
  return found->get_option(std::string(flag));
}

/// "[a,b]" is a list to the parser, and "4" one value.
std::string default_from_value(const Configuration& values, const ConfigKey& key) {
  const auto text = values.text(key.name);
  const bool is_list = key.type == ConfigType::kCommand || key.type == ConfigType::kFolders;
  return is_list ? fmt::format("[{}]", text) : text;
}

/// Removes what the description says of the built-in default; help shows the new one.
void drop_described_default(CLI::Option& option) {
  const auto& text = option.get_description();
  const auto start = text.find(" [default: ");
  option.description(text.substr(0, start));
}

Status set_default(CLI::App& app, const ConfigKey& key, const ConfigValue& value) {
  for (const auto verb : key.verbs) {
    try {
      auto* const option = option_of_verb(app, verb, key.flag);
      option->default_val(default_from_value(configuration(), key));
      drop_described_default(*option);
    } catch (const CLI::ParseError& error) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: {}: {}", value.place, key.name, error.what()));
    }
  }
  return {};
}

}  // namespace

const Configuration& configuration() { return configuration_of_process(); }

void use_configuration(Configuration read) {
  export_configuration(read);
  configuration_of_process() = std::move(read);
}

Status set_configured_defaults(CLI::App& app) {
  for (const auto& key : config_keys()) {
    if (const auto* const value = configuration().find(key.name); value != nullptr) {
      ASSAY_RETURN_IF_ERROR(set_default(app, key, *value));
    }
  }
  return {};
}

Result<RepositorySpec> read_configured_repository(const std::filesystem::path& file) {
  ASSAY_ASSIGN_OR_RETURN(auto spec, read_repository_file(file));
  const auto policy = spec.document.value("policy", Json::object());
  const auto limit = configuration().text("builds_limit");
  if (!limit.empty() && !policy.contains("keep_builds")) {
    ASSAY_ASSIGN_OR_RETURN(spec.policy.keep_builds_bytes, bytes_from_text(limit));
  }
  return spec;
}

}  // namespace assay::cli
