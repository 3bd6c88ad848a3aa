#pragma once

#include <string>
#include <vector>

namespace assay {

/// Which files of a repository matter to an engine. An entry is a file, a folder, or a pattern such
/// as "*.md", in which * stands for any text.
struct PathFilter {
  std::vector<std::string> include;  ///< Empty: all.
  std::vector<std::string> exclude;

  /// `path`: from the root of the repository.
  [[nodiscard]] bool matches(const std::string& path) const;
};

}  // namespace assay
