#pragma once

#include "features/repository/path_filter.h"
#include "features/repository/version_control.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// The mode of a place for a submodule in trees and indexes.
inline constexpr std::string_view kLinkMode = "160000 ";

/// The beginning of each command line of git: settings that no configuration of the user may change
/// for what Assay does. Git hands them to submodules.
std::vector<std::string> git_settings();

/// Removes the locks that a killed process left in a repository, its worktrees and their
/// submodules; whoever calls has these to itself.
void remove_left_locks(const std::filesystem::path& repository);

/// A folder with the files of one commit of a repository, submodules included, and nothing else:
/// neither what a build left there, nor submodules of other commits.
class GitWorktree {
 public:
  GitWorktree(const VersionControl& git, std::filesystem::path folder)
      : git_(git), folder_(std::move(folder)) {}

  /// Errors: those of git, such as kUnavailable for a worktree that is damaged.
  [[nodiscard]] Status switch_to(const std::string& revision) const;

  /// Brings the submodules to the commits that are wanted, at each level from the addresses that
  /// the level above names now. One that has none, or that its repository leaves out, is empty.
  [[nodiscard]] Status update_submodules() const;

  /// Errors: kUnavailable where a file that matters is a pointer of Git LFS instead of the content.
  [[nodiscard]] Status check_pointers(const PathFilter& paths) const;

 private:
  /// A place of the index where the commit of another repository belongs.
  struct Link {
    std::string path;
    std::string commit;
  };

  [[nodiscard]] std::vector<std::string> words(std::vector<std::string> arguments) const;
  [[nodiscard]] Status run(std::vector<std::string> arguments) const;
  [[nodiscard]] Result<std::vector<std::string>> records(std::vector<std::string> arguments) const;
  [[nodiscard]] Result<std::vector<Link>> links() const;
  [[nodiscard]] Status clean() const;
  [[nodiscard]] std::vector<std::string> paths_of_modules() const;
  [[nodiscard]] Status remove_former(const std::vector<Link>& before,
                                     const std::string& revision) const;
  [[nodiscard]] Status bring(std::vector<Link> missing) const;
  [[nodiscard]] Status fetch_modules(const std::vector<Link>& links) const;
  [[nodiscard]] bool is_at(const std::string& commit) const;
  [[nodiscard]] Result<std::vector<std::string>> own_pointers() const;
  /// Pointers in this folder and its submodules, by their paths from the outermost one.
  [[nodiscard]] Result<std::vector<std::string>> pointers(const std::string& prefix) const;

  const VersionControl& git_;
  std::filesystem::path folder_;
};

}  // namespace assay
