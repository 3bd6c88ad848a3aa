#include "assay/config/config_value.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/base/units.h"
#include "assay/config/config_key.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kFromHome = "~/";
constexpr std::string_view kUrl = "://";

bool is_rooted(std::string_view text) {
  return text.starts_with(kFromHome) || text.starts_with('/');
}

bool is_in_range(const ConfigKey& key, const Json& value) {
  const auto number = value.get<double>();
  return number >= key.least && number <= key.most;
}

bool are_texts(const Json& value) {
  return value.is_array() && !value.empty() && std::ranges::all_of(value, [](const Json& item) {
           return item.is_string() && !item.get<std::string>().empty();
         });
}

/// Tells whether a value that is a text has the form of the key's type.
bool has_form_of_text(const ConfigKey& key, const std::string& text) {
  switch (key.type) {
    case ConfigType::kPath:
      return is_rooted(text);
    case ConfigType::kStore:
      return is_rooted(text) || text.contains(kUrl);
    case ConfigType::kProgram:
      return is_rooted(text) || (!text.empty() && !text.contains('/'));
    case ConfigType::kSize:
      return bytes_from_text(text).has_value();
    case ConfigType::kChoice:
      return std::ranges::find(key.choices, text) != key.choices.end();
    default:
      return !text.empty();
  }
}

bool has_form(const ConfigKey& key, const Json& value) {
  switch (key.type) {
    case ConfigType::kInteger:
      return value.is_number_integer() && is_in_range(key, value);
    case ConfigType::kNumber:
      return value.is_number() && is_in_range(key, value);
    case ConfigType::kCommand:
    case ConfigType::kFolders:
      return are_texts(value);
    default:
      return value.is_string() && has_form_of_text(key, value.get<std::string>());
  }
}

std::string suggestion_of_choice(const ConfigKey& key, const Json& value) {
  const std::vector<std::string> known(key.choices.begin(), key.choices.end());
  const auto nearest =
      value.is_string() ? find_nearest_name(value.get<std::string>(), known) : std::string();
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

Json list_from_text(const std::string& text) {
  Json list = Json::array();
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    list.push_back(part);
  }
  return list;
}

std::string absolute_path(const std::string& text) {
  std::error_code error;
  return stdfs::absolute(text, error).lexically_normal().string();
}

/// A name without a slash is looked up in PATH.
std::string absolute_program(const std::string& text) {
  return is_rooted(text) || !text.contains('/') ? text : absolute_path(text);
}

Json command_from_text(const std::string& text) {
  auto command = list_from_text(text);
  if (!command.empty()) {
    command.front() = absolute_program(command.front().get<std::string>());
  }
  return command;
}

/// Each "NAME=FOLDER" with the whole folder.
Json folders_from_text(const std::string& text) {
  auto folders = list_from_text(text);
  for (auto& one : folders) {
    const auto pair = one.get<std::string>();
    const auto folder = pair.find('=') + 1;
    if (folder > 0 && folder < pair.size() && !is_rooted(pair.substr(folder))) {
      one = pair.substr(0, folder) + absolute_path(pair.substr(folder));
    }
  }
  return folders;
}

Json raw_value_from_text(const ConfigKey& key, const std::string& text) {
  switch (key.type) {
    case ConfigType::kInteger:
    case ConfigType::kNumber: {
      auto number = parse_json(text, key.name, JsonComments::kRefused);
      return number && number->is_number() ? *std::move(number) : Json(text);
    }
    case ConfigType::kCommand:
      return command_from_text(text);
    case ConfigType::kFolders:
      return folders_from_text(text);
    case ConfigType::kPath:
      return text.empty() || is_rooted(text) ? text : absolute_path(text);
    case ConfigType::kStore:
      return text.empty() || is_rooted(text) || text.contains(kUrl) ? text : absolute_path(text);
    case ConfigType::kProgram:
      return absolute_program(text);
    default:
      return text;
  }
}

}  // namespace

Status check_config_value(const ConfigKey& key, const Json& value) {
  if (has_form(key, value)) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: {} must be {}{}", key.name, value.dump(-1, ' ', true),
                          form_of_values(key), suggestion_of_choice(key, value)));
}

Result<Json> config_value_from_text(const ConfigKey& key, const std::string& text) {
  auto value = raw_value_from_text(key, text);
  ASSAY_RETURN_IF_ERROR(check_config_value(key, value));
  return value;
}

namespace {

/// A path below "~/" with the user's home in its place.
std::string expanded_path(const std::string& text, const char* user) {
  return text.starts_with(kFromHome) ? (stdfs::path(user) / text.substr(kFromHome.size())).string()
                                     : text;
}

/// "NAME=FOLDER", the folder expanded.
std::string expanded_pair(const std::string& pair, const char* user) {
  const auto folder = pair.find('=') + 1;
  return pair.substr(0, folder) + expanded_path(pair.substr(folder), user);
}

}  // namespace

Json expanded_config_value(const ConfigKey& key, Json value) {
  const bool is_command = key.type == ConfigType::kCommand && value.is_array() && !value.empty();
  const bool is_path = key.type == ConfigType::kPath || key.type == ConfigType::kStore ||
                       key.type == ConfigType::kProgram || is_command;
  const char* const user = std::getenv("HOME");
  if (user == nullptr) {
    return value;
  }
  if (key.type == ConfigType::kFolders && value.is_array()) {
    for (auto& one : value) {
      one = one.is_string() ? Json(expanded_pair(one.get<std::string>(), user)) : one;
    }
    return value;
  }
  auto& path = is_command ? value.front() : value;
  if (is_path && path.is_string()) {
    path = expanded_path(path.get<std::string>(), user);
  }
  return value;
}

std::string text_from_config_value(const Json& value) {
  if (value.is_array()) {
    return fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ","));
  }
  return unquoted_text(value);
}

}  // namespace assay
