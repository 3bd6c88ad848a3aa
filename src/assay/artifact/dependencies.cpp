#include "assay/artifact/dependencies.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "assay/artifact/job_box.h"
#include "assay/base/digest.h"
#include "assay/base/file_digests.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kSchema = "assay/dependencies/1";
constexpr const char* kPathLists[] = {"files", "folders"};

/// Importing a module writes there.
constexpr std::string_view kIgnoredFolder = "__pycache__";

/// A file may change twice in one tick of its file system's clock.
constexpr std::int64_t kClockTickNs = 2'000'000'000;

struct FileState {
  std::int64_t bytes = 0;
  std::int64_t inode = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileState&) const = default;
};

std::optional<FileState> state_of_file(const stdfs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return FileState{.bytes = status.st_size,
                   .inode = static_cast<std::int64_t>(status.st_ino),
                   .changed_ns = status.st_ctim.tv_sec * kNsPerSecond + status.st_ctim.tv_nsec};
}

/// A name that is no UTF-8 is kept as the hexadecimal digits of its bytes: JSON cannot say it.
constexpr const char* kHexPath = "path_hex";

std::string bytes_from_hex(const std::string& digits) {
  constexpr int kHexadecimal = 16;
  std::string bytes;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, kHexadecimal)));
  }
  return bytes;
}

std::string hex_from_bytes(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) {
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return digits;
}

std::string name_of(const Json& dependency) {
  const auto digits = dependency.find(kHexPath);
  return digits == dependency.end() ? dependency.at("path").get<std::string>()
                                    : bytes_from_hex(digits->get<std::string>());
}

void set_name(Json& dependency, const std::string& name) {
  dependency.erase("path");
  dependency.erase(kHexPath);
  const bool is_text = valid_utf8(name) == name;
  dependency[is_text ? "path" : kHexPath] = is_text ? name : hex_from_bytes(name);
}

/// "" of a value that is null: there was none.
std::string digest_in(const Json& dependency) {
  const auto& digest = dependency.at("sha256");
  return digest.is_null() ? "" : digest.get<std::string>();
}

std::string listing_digest(const stdfs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (stdfs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) {
    return "";
  }
  std::erase(names, kIgnoredFolder);
  std::ranges::sort(names);
  std::string listing;
  for (const auto& name : names) {
    listing.append(name).append("\n");
  }
  return sha256_hex(listing);
}

/// True if nothing can have been written to the file since it was read.
bool is_untouched(const Json& file, const FileState& now, std::int64_t recorded_ns) {
  const FileState then{.bytes = file.at("bytes").get<std::int64_t>(),
                       .inode = file.value("inode", std::int64_t{0}),
                       .changed_ns = file.value("changed_ns", std::int64_t{0})};
  return then == now && then.changed_ns + kClockTickNs < recorded_ns;
}

/// A file of weights may be a dependency of many entries and many cases: it is read once.
std::string digest_of_file(const stdfs::path& path) {
  static std::mutex mutex;
  static FileDigests digests{{}};  // In this process only.
  const std::lock_guard guard(mutex);
  return digests.digest_of(path).value_or("");
}

std::optional<std::string> change_of_file(const Json& file, const stdfs::path& path,
                                          std::int64_t recorded_ns) {
  const auto before = digest_in(file);
  const auto now = state_of_file(path);
  if (before.empty()) {
    return now ? std::optional(fmt::format("'{}' is new", printable(path.string()))) : std::nullopt;
  }
  if (!now) {
    return fmt::format("'{}' is gone", printable(path.string()));
  }
  if (file.at("bytes").is_number() && file.at("bytes") == now->bytes &&
      (is_untouched(file, *now, recorded_ns) || digest_of_file(path) == before)) {
    return std::nullopt;
  }
  return fmt::format("'{}' changed", printable(path.string()));
}

std::optional<std::string> change_of_variable(const Json& variable) {
  const auto name = variable.at("name").get<std::string>();
  const char* value = std::getenv(name.c_str());
  const auto now = value == nullptr ? std::string() : sha256_hex(value);
  return now == digest_in(variable)
             ? std::nullopt
             : std::optional(fmt::format("the environment variable {} changed", name));
}

/// One that is set nowhere is not set in a sandbox either.
bool may_differ_in_box(const Json& variable) {
  return !digest_in(variable).empty() ||
         std::getenv(variable.at("name").get<std::string>().c_str()) != nullptr;
}

bool is_absolute(const Json& dependency) {
  return !dependency.contains("at") && stdfs::path(name_of(dependency)).is_absolute();
}

/// Code may have found an absolute path from where it was itself, or from the current folder.
bool depends_on_place(const Json& dependencies) {
  return std::ranges::any_of(kPathLists, [&](const char* list) {
    return std::ranges::any_of(dependencies.at(list), is_absolute);
  });
}

Json place_of(const DependencyScope& scope) {
  const auto text_of = [](const std::string& folder) {
    return valid_utf8(folder) == folder ? folder : "hex:" + hex_from_bytes(folder);
  };
  Json folders = Json::array();
  for (const auto& folder : scope.folders) {
    folders.push_back(text_of(folder));
  }
  return {{"folders", folders}, {"work_folder", text_of(scope.work_folder)}};
}

stdfs::path path_in(const Json& dependency, const DependencyScope& scope) {
  const stdfs::path path(name_of(dependency));
  if (const auto at = dependency.find("at"); at != dependency.end()) {
    return stdfs::path(scope.folders.at(at->get<std::size_t>())) / path;
  }
  return path.is_absolute() ? path : stdfs::path(scope.work_folder) / path;
}

std::optional<std::string> change_of_place(const Json& dependencies, const DependencyScope& scope) {
  if (std::ranges::any_of(dependencies.at("variables"), may_differ_in_box) &&
      dependencies.at("is_boxed") != scope.is_boxed) {
    return "it was made with other environment variables, in a sandbox or outside of one";
  }
  const auto& place = dependencies.at("place");
  const bool is_elsewhere = depends_on_place(dependencies) && place != place_of(scope);
  if (is_elsewhere || place.at("folders").size() != scope.folders.size()) {
    return "it was made for another folder";
  }
  return std::nullopt;
}

std::optional<std::string> change_in(const Json& dependencies, const DependencyScope& scope) {
  if (auto change = change_of_place(dependencies, scope)) {
    return change;
  }
  const auto recorded_ns = dependencies.at("recorded_ns").get<std::int64_t>();
  for (const auto& variable : dependencies.at("variables")) {
    if (auto change = scope.is_boxed ? std::nullopt : change_of_variable(variable)) {
      return change;
    }
  }
  for (const auto* list : {"files", "installed"}) {
    for (const auto& file : dependencies.at(list)) {
      if (auto change = change_of_file(file, path_in(file, scope), recorded_ns)) {
        return change;
      }
    }
  }
  for (const auto& folder : dependencies.at("folders")) {
    const auto path = path_in(folder, scope);
    if (listing_digest(path) != digest_in(folder)) {
      return fmt::format("the folder '{}' has other files", printable(path.string()));
    }
  }
  return std::nullopt;
}

/// Makes the path relative to the innermost folder of the scope that it is below.
void put_in_scope(Json& dependency, const DependencyScope& scope) {
  const auto path = name_of(dependency);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < scope.folders.size(); ++i) {
    const auto folder = scope.folders[i] + "/";
    if (path.starts_with(folder) && folder.size() > longest) {
      longest = folder.size();
      dependency["at"] = i;
      set_name(dependency, path.substr(longest));
    }
  }
}

}  // namespace

DependencyScope dependency_scope(const Json& request, const SandboxRequest& box) {
  DependencyScope scope{.is_boxed = box.mode != SandboxMode::kOff};
  for (const auto& file : files_of_request(request)) {
    const auto folder = stdfs::path(file).lexically_normal().parent_path().string();
    if (std::ranges::find(scope.folders, folder) == scope.folders.end()) {
      scope.folders.push_back(folder);
    }
  }
  std::error_code ignored;
  scope.work_folder = stdfs::current_path(ignored).string();
  return scope;
}

Result<Json> dependencies_in_scope(Json recorded, const DependencyScope& scope) {
  try {
    if (recorded.at("schema") != kSchema) {
      return fail(ErrorCode::kCorrupt, fmt::format("its schema is not {}", kSchema));
    }
    for (const auto* list : kPathLists) {
      for (auto& dependency : recorded.at(list)) {
        put_in_scope(dependency, scope);
      }
    }
    recorded["place"] = place_of(scope);
    recorded["is_boxed"] = scope.is_boxed;
    static_cast<void>(change_in(recorded, scope));  // All fields can be read.
    return recorded;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

std::string digest_of_dependencies(const Json& dependencies) {
  Json identity = Json::object();
  for (const auto* list : {"files", "folders", "installed", "variables"}) {
    auto& of_list = identity[list] = Json::array();
    for (const auto& one : dependencies.at(list)) {
      of_list.push_back({{"at", one.value("at", Json())},
                         {"path", one.value("path", one.value("name", ""))},
                         {kHexPath, one.value(kHexPath, Json())},
                         {"sha256", one.at("sha256")}});
    }
  }
  if (depends_on_place(dependencies)) {
    identity["place"] = dependencies.at("place");
  }
  if (!dependencies.at("variables").empty()) {
    identity["is_boxed"] = dependencies.at("is_boxed");
  }
  return digest_of_json(identity);
}

std::optional<std::string> find_change(const Json& dependencies, const DependencyScope& scope) {
  try {
    return change_in(dependencies, scope);
  } catch (const std::exception&) {
    return "its list of dependencies is damaged";
  }
}

}  // namespace assay
