#pragma once

#include "features/repository/mirror.h"
#include "features/repository/path_filter.h"
#include "features/repository/repository_spec.h"
#include "features/repository/version_control.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/repository.h"

namespace assay {

/// A clone of a Mercurial repository; sources are clones of it.
class HgMirror final : public Mirror {
 public:
  HgMirror(const RepositorySpec& spec, const std::filesystem::path& folder);

  Result<MirrorUpdate> update() override;
  Result<std::string> resolve(std::string_view name) override;
  Result<std::vector<Revision>> log(const RevisionRange& range) override;
  Result<std::vector<std::string>> changed_files(const std::string& revision) override;
  Result<std::string> content_digest(const std::string& revision, const PathFilter& paths) override;
  Status check_out(const std::string& revision, const std::filesystem::path& folder) override;

 private:
  [[nodiscard]] std::vector<std::string> in_mirror(std::vector<std::string> arguments) const;
  [[nodiscard]] std::filesystem::path digest_folder() const;
  /// The output of hg.
  [[nodiscard]] Result<std::string> clone(const std::string& from,
                                          const std::filesystem::path& folder) const;
  /// check_out() for a caller that holds the lock of the mirror.
  [[nodiscard]] Status update_clone(const std::string& revision,
                                    const std::filesystem::path& folder) const;
  [[nodiscard]] Status run_in(const std::filesystem::path& folder,
                              std::vector<std::string> arguments) const;
  [[nodiscard]] Status purge(const std::filesystem::path& folder) const;
  /// All that lead to it, by number: a parent comes before its children.
  Result<std::vector<Revision>> ancestors(const std::string& tip);

  VersionControl hg_;
  std::string repository_id_;
  std::string url_;
  std::string branch_;
  bool follows_first_parents_;
  std::filesystem::path folder_;
};

}  // namespace assay
