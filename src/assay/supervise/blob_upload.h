#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"
#include "assay/supervise/checked_files.h"

namespace assay {

/// A blob that arrives in parts, in a file next to its final place; the file goes with the object
/// unless it was finished.
class BlobUpload {
 public:
  /// Errors: kExhausted when there is no space for `total_bytes`; kUnavailable.
  static Result<BlobUpload> start(std::filesystem::path target, std::int64_t total_bytes);
  BlobUpload(BlobUpload&& other) noexcept { swap(other); }
  BlobUpload& operator=(BlobUpload&& other) noexcept {
    swap(other);
    return *this;
  }
  BlobUpload(const BlobUpload&) = delete;
  BlobUpload& operator=(const BlobUpload&) = delete;
  ~BlobUpload() { discard(); }

  /// Errors: kExhausted, kUnavailable; the upload has ended then.
  Status append(std::span<const std::byte> content);

  /// Gives the file, which is whole, its name, so that it survives a power failure.
  /// Errors: kCorrupt when its digest is not the target's name; kExhausted, kUnavailable.
  Status finish(CheckedFiles& checked);

  [[nodiscard]] const std::filesystem::path& target() const { return target_; }
  [[nodiscard]] std::int64_t received_bytes() const { return received_bytes_; }
  [[nodiscard]] std::int64_t total_bytes() const { return total_bytes_; }

 private:
  BlobUpload() = default;
  void discard();
  std::unexpected<Error> fail_from(int cause);
  void swap(BlobUpload& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(target_, other.target_);
    std::swap(temporary_, other.temporary_);
    std::swap(received_bytes_, other.received_bytes_);
    std::swap(total_bytes_, other.total_bytes_);
  }

  FileDescriptor file_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::int64_t received_bytes_ = 0;
  std::int64_t total_bytes_ = 0;
};

}  // namespace assay
