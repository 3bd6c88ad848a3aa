#include "features/repository/path_filter.h"

#include <algorithm>
#include <fnmatch.h>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

bool is_named_by(const std::string& path, const std::string& entry) {
  const auto folder = entry.ends_with('/') ? entry : entry + "/";
  return path == entry || path.starts_with(folder) ||
         ::fnmatch(entry.c_str(), path.c_str(), 0) == 0;
}

namespace {

bool is_in(const std::string& path, const std::vector<std::string>& entries) {
  return std::ranges::any_of(entries,
                             [&path](const auto& entry) { return is_named_by(path, entry); });
}

/// True if an entry may name something in the folder, whose path ends with "/". Up to its first
/// wildcard an entry is plain text.
bool leads_into(const std::string& entry, const std::string& folder) {
  const auto wildcard = entry.find_first_of("*?[\\");
  const auto plain = std::string_view(entry).substr(0, wildcard);
  return plain.starts_with(folder) || (wildcard != std::string::npos && folder.starts_with(plain));
}

bool may_match_in(const std::string& folder, const PathFilter& paths) {
  const auto path = folder.substr(0, folder.size() - 1);
  const bool is_included = paths.include.empty() || is_in(path, paths.include) ||
                           std::ranges::any_of(paths.include, [&folder](const auto& entry) {
                             return leads_into(entry, folder);
                           });
  return is_included && !is_in(path, paths.exclude);
}

}  // namespace

bool PathFilter::matches(const std::string& path) const {
  if (path.ends_with('/')) {
    return may_match_in(path, *this);
  }
  return (include.empty() || is_in(path, include)) && !is_in(path, exclude);
}

}  // namespace assay
