#pragma once

#include <map>
#include <string>
#include <vector>

namespace assay {

/// Which files of a repository matter to an engine. An entry is a file, a folder, or a pattern such
/// as "*.md", in which * stands for any text.
struct PathFilter {
  std::vector<std::string> include;  ///< Empty: all.
  std::vector<std::string> exclude;
  /// Files of operators by patterns of their names, for operators whose files do not have the name.
  std::map<std::string, std::vector<std::string>> operators = {};

  /// `path`: from the root of the repository. One that ends with "/" is a folder whose files are
  /// not known, such as a submodule: true where one of them may matter.
  [[nodiscard]] bool matches(const std::string& path) const;
};

/// True if an entry of a filter names the path.
bool is_named_by(const std::string& path, const std::string& entry);

}  // namespace assay
