#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "assay/base/result.h"

namespace assay {

/// Keeps files by the digest of their bytes, for the devices of a fleet. Putting one that is there
/// does nothing.
class ArtifactStore {
 public:
  virtual ~ArtifactStore() = default;

  /// Errors: kNotFound (no such file here), kUnavailable (no store), kExhausted.
  virtual Status put(const std::filesystem::path& file, const std::string& sha256) = 0;

  /// Writes the file to `target`, whose folder is there. Errors: kNotFound (it was never put),
  /// kUnavailable; kCorrupt where its bytes do not have the digest, and nothing is left at
  /// `target`.
  virtual Status get(const std::string& sha256, const std::filesystem::path& target) = 0;
};

/// "/shared/folder", or "s3://bucket/prefix" by the Python package's `assay.fleet.objects` under
/// `python`. Errors: kInvalidArgument for another scheme; kUnavailable where the store does not
/// answer.
Result<std::unique_ptr<ArtifactStore>> open_artifact_store(const std::string& reference,
                                                           const std::filesystem::path& python);

}  // namespace assay
