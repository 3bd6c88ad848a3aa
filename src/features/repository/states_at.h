#pragma once

#include "features/repository/listed_states.h"
#include "features/repository/mirror.h"
#include "features/repository/path_filter.h"
#include "features/repository/repository_spec.h"

#include <filesystem>
#include <memory>
#include <string>

#include "assay/base/result.h"

namespace assay {

/// The "states" of a repository file, all built from one commit: only their {state} differs.
class StatesAt final : public ListedStates {
 public:
  /// `spec`: made by spec_of_states.
  StatesAt(std::unique_ptr<Mirror> mirror, const RepositorySpec& spec);

  Result<MirrorUpdate> update() override;
  Result<std::string> content_digest(const std::string& revision, const PathFilter& paths) override;
  Status check_out(const std::string& revision, const std::filesystem::path& folder) override;

 private:
  std::unique_ptr<Mirror> mirror_;
  std::string commit_;
};

/// The repository file as one of its states at a commit: a repository of its own in the store.
/// Errors: kInvalidArgument for a file without "states".
Result<RepositorySpec> spec_of_states(RepositorySpec spec, const std::string& commit);

}  // namespace assay
