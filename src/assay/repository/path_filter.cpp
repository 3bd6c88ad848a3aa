#include "assay/repository/path_filter.h"

#include <algorithm>
#include <fnmatch.h>
#include <string>
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

}  // namespace

bool PathFilter::matches(const std::string& path) const {
  return (include.empty() || is_in(path, include)) && !is_in(path, exclude);
}

}  // namespace assay
