#pragma once

#include "features/repository/path_filter.h"
#include "features/repository/repository_spec.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/repository.h"

namespace assay {

/// Result of a fetch.
struct MirrorUpdate {
  std::string tip;  ///< Hash of the newest commit of the branch.
  /// Branches whose history was replaced ("force-pushed"). Old commits stay in the mirror, those of
  /// removed branches, too.
  std::vector<std::string> rewritten;
};

/// Which commits are listed: those that lead to `tip`, without those that lead to `since`.
struct RevisionRange {
  std::string tip;    ///< A hash.
  std::string since;  ///< A hash; empty: from the root.
  int limit = -1;     ///< Counts from the newest; negative: all.
};

/// Assay's own copy of a repository. The user's checkout is only read, and only by fetching. What
/// was once fetched stays. Not thread-safe; other processes may use the same folder, as long as
/// each of them checks out to a folder of its own.
class Mirror {
 public:
  virtual ~Mirror() = default;

  /// Fetches what is new; makes the mirror at the first use.
  virtual Result<MirrorUpdate> update() = 0;

  /// The hash that a branch, a tag, a hash or the beginning of one names; HEAD is the tip of the
  /// branch. Errors: kNotFound.
  virtual Result<std::string> resolve(std::string_view name) = 0;

  /// Newest first, by first parents unless the file says otherwise.
  virtual Result<std::vector<Revision>> log(const RevisionRange& range) = 0;

  /// Files that differ from the first parent; of the root, all. A submodule ends with "/".
  virtual Result<std::vector<std::string>> changed_files(const std::string& revision) = 0;

  /// Digest of the content of the files that matter: equal for two revisions exactly if those files
  /// are.
  virtual Result<std::string> content_digest(const std::string& revision,
                                             const PathFilter& paths) = 0;

  /// Makes `folder` hold the files of the revision, and nothing else. Files that are the same
  /// already keep their time of change.
  virtual Status check_out(const std::string& revision, const std::filesystem::path& folder) = 0;
};

/// The mirror of a repository, in a folder of its own. Touches nothing yet.
std::unique_ptr<Mirror> make_mirror(const RepositorySpec& spec,
                                    const std::filesystem::path& folder);

/// Folder in which Assay keeps what it has of a repository.
std::filesystem::path repository_folder(const std::filesystem::path& home,
                                        const Repository& repository);

/// The names of revisions on a command line: each one, "A..B" as the commits after A up to B,
/// oldest first. A name twice counts once. Errors: kNotFound; kInvalidArgument for a range without
/// commits.
Result<std::vector<Revision>> revisions_from_names(Mirror& mirror,
                                                   const std::vector<std::string>& names);

}  // namespace assay
