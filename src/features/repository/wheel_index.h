#pragma once

#include "features/repository/listed_states.h"
#include "features/repository/mirror.h"
#include "features/repository/path_filter.h"
#include "features/repository/repository_spec.h"

#include <filesystem>
#include <string>

#include "assay/base/result.h"

namespace assay {

/// Versions of a Python package, as pip lists them: its settings say from where. Its sources are a
/// requirements.txt of one line.
class WheelIndex final : public ListedStates {
 public:
  explicit WheelIndex(const RepositorySpec& spec);

  /// Asks pip for the versions that can be installed here. Errors: kUnavailable with pip's words.
  Result<MirrorUpdate> update() override;
  Result<std::string> content_digest(const std::string& revision, const PathFilter& paths) override;
  Status check_out(const std::string& revision, const std::filesystem::path& folder) override;

 private:
  [[nodiscard]] std::string requirement(const std::string& version) const;

  std::string package_;
  bool has_prereleases_;
  std::filesystem::path python_;
};

}  // namespace assay
