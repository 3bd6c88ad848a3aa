#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// Files by the SHA-256 of their content, in one folder of a device. Several processes may share
/// it.
class BlobFolder {
 public:
  explicit BlobFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Where a blob lies, or would. Errors: kInvalidArgument unless it is 64 lower-case hexadecimal
  /// digits.
  [[nodiscard]] Result<std::filesystem::path> path_of(std::string_view sha256) const;

  /// Whether the blob is there and undamaged; a file is digested once in the life of this object,
  /// and removed if it is damaged.
  Result<bool> has(std::string_view sha256);

  /// Writes a blob; the path of the file. Errors: kCorrupt when the content has another digest;
  /// kExhausted, kUnavailable.
  Result<std::filesystem::path> put(std::string_view sha256, std::span<const std::byte> content);

 private:
  std::filesystem::path folder_;
  std::set<std::string, std::less<>> checked_;
};

/// $ASSAY_AGENT_HOME/blobs, else $XDG_CACHE_HOME/assay-agent/blobs, else
/// ~/.cache/assay-agent/blobs.
std::filesystem::path default_blob_folder();

}  // namespace assay
