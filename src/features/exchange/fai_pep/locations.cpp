#include "features/exchange/fai_pep/locations.h"

#include "features/exchange/fai_pep/stand_ins.h"
#include "features/exchange/fai_pep/test_entry.h"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"

namespace assay::fai_pep {
namespace {

std::string text_of(const Json& file, const char* key) {
  const auto found = file.find(key);
  return found != file.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The key alone, or with its group: --file graph=… and --file files.graph=….
const std::filesystem::path* find_stand_in(const std::string& key, const StandIns& stand_ins) {
  for (const auto& name : {key, key.substr(key.rfind('.') + 1)}) {
    if (const auto found = stand_ins.files.find(name); found != stand_ins.files.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

Result<std::filesystem::path> path_in_mirror(const std::string& key, const std::string& location,
                                             const StandIns& stand_ins) {
  const Mirror* longest = nullptr;
  std::filesystem::path place;
  for (const auto& mirror : stand_ins.mirrors) {
    const auto below = path_below(location, mirror.prefix);
    if (below && (longest == nullptr || mirror.prefix.size() > longest->prefix.size())) {
      longest = &mirror;
      place = mirror.folder / *below;
    }
  }
  if (longest != nullptr) {
    return place;
  }
  return fail(
      ErrorCode::kNotFound,
      fmt::format("{} is at {}, and nothing is downloaded: name a file with --file {}=PATH, "
                  "a folder with --mirror PREFIX=FOLDER, or FAI-PEP's --model-cache",
                  key, location, key));
}

Result<std::filesystem::path> path_from_location(const std::string& key,
                                                 const std::string& location,
                                                 const TestEntry& entry,
                                                 const StandIns& stand_ins) {
  if (location.starts_with("http://") || location.starts_with("https://")) {
    return path_in_mirror(key, location, stand_ins);
  }
  if (location.starts_with("//")) {
    return stand_ins.root.empty()
               ? Result<std::filesystem::path>(fail(
                     ErrorCode::kNotFound,
                     fmt::format("{} is at {}: name the folder of // with --root FOLDER, or the "
                                 "file with --file {}=PATH",
                                 key, location, key)))
               : stand_ins.root / location.substr(2);
  }
  return entry.file.parent_path() / location;
}

}  // namespace

std::optional<double> number_from_text(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end && number >= 0 ? std::optional(number) : std::nullopt;
}

Result<std::pair<std::string, std::string>> pair_from_flag(const std::string& flag,
                                                           const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} {}: write NAME=VALUE", flag, text));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<LocatedFile> locate(const std::string& key, const Json& file, const TestEntry& entry,
                           const StandIns& stand_ins) {
  if (const auto* path = find_stand_in(key, stand_ins)) {
    return LocatedFile{.path = std::filesystem::absolute(*path).lexically_normal(),
                       .md5 = {},
                       .is_stand_in = true};
  }
  const auto md5 = text_of(file, "md5");
  if (!stand_ins.model_cache.empty() && file.contains("md5")) {
    const auto path =
        stand_ins.model_cache / entry.format() / entry.name() / text_of(file, "filename");
    return LocatedFile{.path = std::filesystem::absolute(path), .md5 = md5};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto path,
                         path_from_location(key, text_of(file, "location"), entry, stand_ins));
  return LocatedFile{.path = std::filesystem::absolute(path).lexically_normal(), .md5 = md5};
}

}  // namespace assay::fai_pep
