#pragma once

#include "features/repository/mirror.h"
#include "features/repository/path_filter.h"
#include "features/repository/repository_spec.h"
#include "features/repository/version_control.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/repository.h"

namespace assay {

/// A bare repository that loses nothing; sources are worktrees of it.
class GitMirror final : public Mirror {
 public:
  GitMirror(const RepositorySpec& spec, const std::filesystem::path& folder);

  Result<MirrorUpdate> update() override;
  Result<std::string> resolve(std::string_view name) override;
  Result<std::vector<Revision>> log(const RevisionRange& range) override;
  Result<std::vector<std::string>> changed_files(const std::string& revision) override;
  Result<std::string> content_digest(const std::string& revision, const PathFilter& paths) override;
  Status check_out(const std::string& revision, const std::filesystem::path& folder) override;

 private:
  [[nodiscard]] std::vector<std::string> in_mirror(std::vector<std::string> arguments) const;
  Status make();
  [[nodiscard]] std::string origin() const;
  void pack() const;
  [[nodiscard]] Result<std::string> find_commit(std::string_view name) const;
  /// Hashes by name of the branch.
  Result<std::map<std::string, std::string>> tips();
  Result<std::vector<std::string>> keep_rewritten(const std::map<std::string, std::string>& before,
                                                  const std::map<std::string, std::string>& after);
  Result<std::string> find_branch();
  [[nodiscard]] Error missing_branch(const std::string& branch) const;
  Status add_worktree(const std::string& revision, const std::filesystem::path& folder);
  Result<std::map<std::string, std::int64_t>> positions(const std::string& tip);

  VersionControl git_;
  std::string repository_id_;
  std::string url_;
  std::string branch_;  ///< Empty: not said.
  bool follows_first_parents_;
  PathFilter paths_;              ///< Files that matter.
  std::filesystem::path folder_;  ///< The bare repository.
};

}  // namespace assay
