#include "assay/config/config_file.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/config/config_key.h"
#include "assay/config/config_value.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kConfigSchema = "assay/config/1";
constexpr std::string_view kConfigFamily = "assay/config/";

std::string schema_of(const Json& document) {
  const auto found = document.is_object() ? document.find("schema") : document.end();
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

Status check_config_schema(const Json& document, std::string_view origin) {
  const auto schema = schema_of(document);
  if (schema == kConfigSchema) {
    return {};
  }
  if (schema.starts_with(kConfigFamily)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: schema '{}' is of another version; this one reads '{}'", origin,
                            schema, kConfigSchema));
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format(R"({}: a configuration is an object that begins with "schema": "{}")",
                          origin, kConfigSchema));
}

/// Describes the fault of a member; empty if it has none.
std::string problem_of_member(const std::string& name, const Json& value, ConfigScope scope) {
  const auto key = get_config_key(name);
  if (!key) {
    return key.error().message;
  }
  if (scope == ConfigScope::kProject && !(*key)->may_be_in_project) {
    return fmt::format(
        "'{}' is for the user's configuration (assay init --set); a project may "
        "have {}",
        name, fmt::join(names_of_config_keys(/*is_project=*/true), ", "));
  }
  const auto status = check_config_value(**key, value);
  return status ? "" : status.error().message;
}

std::optional<uid_t> owner_of(const stdfs::path& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? std::optional(info.st_uid) : std::nullopt;
}

/// True if a file belongs to this user, the administrator or the owner of the project's folder: a
/// stranger's file in /tmp says nothing to those who work below.
bool is_trusted(const stdfs::path& file, std::optional<uid_t> project_owner) {
  const auto owner = owner_of(file);
  return owner && (*owner == 0 || *owner == ::geteuid() || owner == project_owner);
}

/// The text of a file that names the schema; empty for one that another tool reads, or that cannot
/// be read.
std::string text_naming_schema(const stdfs::path& file) {
  std::error_code error;
  auto text = stdfs::is_regular_file(file, error) ? read_file(file, kMaxJsonFileBytes)
                                                  : Result<std::string>(std::string());
  return text && text->contains(kConfigFamily) ? *std::move(text) : std::string();
}

std::string way_out(ConfigScope scope) {
  return scope == ConfigScope::kUser
             ? "\ncorrect the file, or run `assay init --reset`, which moves it aside"
             : "\ncorrect the file or remove it";
}

/// The path in a variable; empty for a relative one.
stdfs::path whole_path_of(const char* variable) {
  const char* const text = std::getenv(variable);
  const stdfs::path path(text == nullptr ? "" : text);
  return path.is_absolute() ? path : stdfs::path();
}

}  // namespace

stdfs::path user_config_file() {
  const auto place = stdfs::path("assay") / "config.json";
  if (const auto folder = whole_path_of("XDG_CONFIG_HOME"); !folder.empty()) {
    return folder / place;
  }
  const auto user = whole_path_of("HOME");
  return user.empty() ? user : user / ".config" / place;
}

Result<stdfs::path> find_project_config(const stdfs::path& folder) {
  const auto project_owner = owner_of(folder);
  for (auto place = folder; !place.empty(); place = place.parent_path()) {
    auto file = place / kProjectConfigName;
    const auto text = is_trusted(file, project_owner) ? text_naming_schema(file) : std::string();
    if (!text.empty()) {
      auto document = parse_json(text, file.string());
      if (!document) {
        return fail_with_context(std::move(document).error(), "a project's configuration");
      }
      if (schema_of(*document).starts_with(kConfigFamily)) {
        return file;
      }
    }
    if (place == place.root_path()) {
      break;
    }
  }
  return stdfs::path();
}

Json empty_config() { return {{"schema", kConfigSchema}}; }

Status check_config(const Json& document, std::string_view origin, ConfigScope scope) {
  ASSAY_RETURN_IF_ERROR(check_config_schema(document, origin));
  std::vector<std::string> problems;
  for (const auto& [name, value] : document.items()) {
    if (name == "schema" || name == "$schema") {
      continue;
    }
    if (const auto problem = problem_of_member(name, value, scope); !problem.empty()) {
      problems.push_back(fmt::format("{}: {}", origin, problem));
    }
  }
  return problems.empty()
             ? Status()
             : fail(ErrorCode::kInvalidArgument, fmt::format("{}", fmt::join(problems, "\n")));
}

Result<Json> read_config_file(const stdfs::path& file, ConfigScope scope) {
  // A home that this user may not enter, as that of a service, has no configuration.
  std::error_code unreachable;
  if (!stdfs::exists(file, unreachable)) {
    return empty_config();
  }
  const auto text = read_file(file, kMaxJsonFileBytes);
  ASSAY_RETURN_IF_ERROR(text);
  // `assay init` rewrites a user's file, and would lose its comments.
  auto document =
      parse_json(*text, file.string(),
                 scope == ConfigScope::kUser ? JsonComments::kRefused : JsonComments::kAllowed);
  const auto status = document ? check_config(*document, file.string(), scope) : Status();
  if (!document || !status) {
    const auto& error = document ? status.error() : document.error();
    return fail(error.code, error.message + way_out(scope));
  }
  return document;
}

Status write_config_file(const stdfs::path& file, const Json& document) {
  if (file.empty()) {
    return fail(ErrorCode::kUnavailable,
                "there is no place for a configuration: HOME is not set to a whole path");
  }
  std::error_code error;
  const auto linked = stdfs::canonical(file, error);
  return write_file_atomically(error ? file : linked, document.dump(2) + "\n", 0600);
}

Result<stdfs::path> move_config_aside(const stdfs::path& file) {
  std::error_code error;
  if (!stdfs::exists(stdfs::symlink_status(file, error))) {
    return stdfs::path();
  }
  auto aside = file;
  aside += ".old";
  for (int number = 2; stdfs::exists(stdfs::symlink_status(aside, error)); ++number) {
    aside = file;
    aside += fmt::format(".old{}", number);
  }
  stdfs::rename(file, aside, error);
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot rename '{}' to '{}': {}", file.string(), aside.string(),
                            error.message()));
  }
  return aside;
}

}  // namespace assay
