#include "assay/spec/named_files.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kFolder = "{folder}";
constexpr std::string_view kPlace = "{place:";

/// Files there are of whoever opens them, or of the machine at this moment.
bool is_of_kernel(const stdfs::path& path) {
  std::error_code error;
  const auto resolved = stdfs::weakly_canonical(path, error);
  return path_below(resolved, "/proc") || path_below(resolved, "/sys");
}

/// Collects the files of one program.
class NamedFiles {
 public:
  explicit NamedFiles(const stdfs::path& program)
      : folder_(stdfs::absolute(program).lexically_normal().parent_path()) {
    auto places = program;
    const auto read = read_json_file(places.replace_extension(".places.json"));
    const auto json = read && read->is_object() ? *read : Json::object();
    for (const auto& [name, path] : json.items()) {
      places_[name] = path.is_string() ? path.get<std::string>() : std::string();
    }
  }

  /// Files that the command writes are no part of it.
  void leave_out(const Json& files) {
    for (const auto& file : files.is_array() ? files : Json::array()) {
      const auto path = file.is_string() ? find_path(file.get<std::string>()) : std::nullopt;
      if (path) {
        written_.insert(name_of(*path));
      }
    }
  }

  void add_step(const Json& step) {
    bool is_first = true;
    for (const auto& argument : step.is_array() ? step : Json::array()) {
      if (argument.is_string()) {
        add_argument(argument.get<std::string>(), is_first);
      }
      is_first = false;
    }
  }

  [[nodiscard]] std::vector<std::string> take() const { return {files_.begin(), files_.end()}; }

 private:
  void add_argument(const std::string& argument, bool is_first) {
    if (is_first && argument.find('/') != std::string::npos &&
        argument.find('{') == std::string::npos) {
      add(folder_ / argument);
    } else if (const auto path = find_path(argument)) {
      add(*path);
    }
  }

  /// The path that a text holds; nullopt: none.
  [[nodiscard]] std::optional<stdfs::path> find_path(const std::string& text) const {
    if (const auto place = text.find(kPlace); place != std::string::npos) {
      const auto begin = place + kPlace.size();
      const auto found = places_.find(text.substr(begin, text.find('}', begin) - begin));
      return found == places_.end() ? std::nullopt : std::optional<stdfs::path>(found->second);
    }
    if (const auto folder = text.find(kFolder); folder != std::string::npos) {
      return folder_.string() + text.substr(folder + kFolder.size());
    }
    // "/data/net.bin", or "--net=/data/net.bin".
    const auto equals = text.find('=');
    auto path = equals == std::string::npos ? text : text.substr(equals + 1);
    return path.starts_with('/') ? std::optional<stdfs::path>(std::move(path)) : std::nullopt;
  }

  [[nodiscard]] std::string name_of(const stdfs::path& path) const {
    const auto normal = path.lexically_normal();
    auto relative = normal.lexically_relative(folder_).string();
    return stays_below(relative) ? std::move(relative) : normal.string();
  }

  void add(const stdfs::path& path) {
    std::error_code error;
    if (stdfs::is_regular_file(path.lexically_normal(), error) && !is_of_kernel(path) &&
        !written_.contains(name_of(path))) {
      files_.insert(name_of(path));
    }
  }

  stdfs::path folder_;
  std::map<std::string, std::string> places_;
  std::set<std::string> written_;
  std::set<std::string> files_;
};

}  // namespace

bool is_command_program(const stdfs::path& program) {
  return program.filename().string().ends_with(".command.json");
}

std::vector<std::string> find_named_files(const stdfs::path& program) {
  if (!is_command_program(program)) {
    return {};
  }
  const auto json = read_json_file(program);
  if (!json || !json->is_object()) {
    return {};
  }
  NamedFiles files(program);
  files.leave_out(json->value("read_files", Json()));
  files.add_step(json->value("argv", Json()));
  const auto steps = json->value("steps", Json());
  for (const auto& step : steps.is_array() ? steps : Json::array()) {
    files.add_step(step);
  }
  return files.take();
}

Result<std::string> digest_named_files(const stdfs::path& program) {
  Json digests = Json::array();
  for (const auto& file : find_named_files(program)) {
    ASSAY_ASSIGN_OR_RETURN(auto digest,
                           sha256_hex_of_file(stdfs::absolute(program).parent_path() / file));
    digests.push_back({stdfs::path(file).filename().string(), digest});
  }
  return digests.empty() ? std::string() : digest_of_json(digests);
}

}  // namespace assay
