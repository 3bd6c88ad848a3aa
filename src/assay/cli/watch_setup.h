#pragma once

#include "features/repository/mirror.h"
#include "features/repository/repository_spec.h"
#include "features/watch/repository_runner.h"
#include "features/watch/verify.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/result.h"
#include "assay/campaign/listener.h"
#include "assay/cli/common_flags.h"
#include "assay/record/repository.h"
#include "assay/store/result_store.h"

namespace assay::cli {

/// Flags of the verbs that measure the revisions of a repository.
struct WatchFlags {
  std::string file;
  std::string environment;
  StoreFlags store;
  ToolchainFlags toolchain;
  std::string executor;  ///< Its devices measure; empty: this machine does.
  std::vector<std::string> devices;
  bool is_quiet = false;
  std::string only = {};  ///< watch::WatchFilter::only

  void declare(CLI::App& app);
};

/// The subject of a search where the repository file does not say it, and which of its states.
struct SearchSource {
  std::string measured;  ///< A spec file or a program.
  std::string at;        ///< The commit whose states are searched; empty: commits are.
  std::string metric;
};

/// All that measuring the revisions of a repository needs, opened.
class WatchSetup {
 public:
  /// Reads the repository file, or "PACKAGE==GOOD..BAD" in its place, and fetches what is new.
  /// `listener` outlives it. Errors: those of read_repository_file, of the mirror and of the store;
  /// kInvalidArgument for a file without "spec" where `source` has none.
  static Result<std::unique_ptr<WatchSetup>> open(const WatchFlags& flags,
                                                  CampaignListener& listener,
                                                  const SearchSource& source = {});

  /// The newest revisions of the branch, newest first.
  Result<std::vector<Revision>> newest(int most);
  /// Those after `since` up to `tip`, newest first, and `since` itself.
  Result<std::vector<Revision>> range(const std::string& since, const std::string& tip);
  /// The position after which commits do not lead to `since`; 0 for an empty name. `revisions`:
  /// newest first.
  Result<std::int64_t> position_of(const std::string& since,
                                   const std::vector<Revision>& revisions);
  /// Fetches again.
  Status fetch();

  [[nodiscard]] watch::IncidentTools incident_tools();

  RepositorySpec spec;
  BuildEnvironment environment;
  std::unique_ptr<ResultStore> store;
  std::unique_ptr<Mirror> mirror;
  ArtifactCache artifacts;
  std::unique_ptr<watch::RepositoryRunner> runner;

 private:
  WatchSetup();
  Status read_spec(const WatchFlags& flags, const SearchSource& source);
  Status open_mirror(const SearchSource& source);
};

/// Folder in which a watcher of the repository keeps its lock and looks for its stop file.
std::filesystem::path watch_folder(const Repository& repository);

}  // namespace assay::cli
