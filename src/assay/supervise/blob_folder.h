#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "assay/base/result.h"
#include "assay/supervise/blob_upload.h"
#include "assay/supervise/checked_files.h"
#include "assay/wire/agent_messages.h"

namespace assay {

/// Files by the SHA-256 of their content, in one folder of a device. Several processes may share
/// it.
class BlobFolder {
 public:
  /// `checked` outlives the object.
  BlobFolder(std::filesystem::path folder, CheckedFiles& checked)
      : folder_(std::move(folder)), checked_(checked) {}

  /// Path of a blob, whether or not it is there. Errors: kInvalidArgument unless it is 64
  /// lower-case hexadecimal digits.
  [[nodiscard]] Result<std::filesystem::path> path_of(std::string_view sha256) const;

  /// True if the blob is there and undamaged; a damaged one is removed.
  Result<bool> has(std::string_view sha256);

  /// Takes a part of a blob; the path of the file when it is the last one. Errors:
  /// kInvalidArgument when it does not follow the part before; kCorrupt when the whole has another
  /// digest; kExhausted with the needed and the free bytes, kUnavailable. After an error the blob
  /// begins anew.
  Result<std::optional<std::filesystem::path>> put(const wire::Put& part,
                                                   std::span<const std::byte> content);

 private:
  /// The upload that the part continues or begins; lives until another one begins.
  Result<BlobUpload*> open_upload(const wire::Put& part, std::int64_t total_bytes);

  std::filesystem::path folder_;
  CheckedFiles& checked_;
  std::optional<BlobUpload> upload_;
};

/// agent_home()/blobs
std::filesystem::path default_blob_folder();

}  // namespace assay
