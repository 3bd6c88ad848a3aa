#include "assay/supervise/blob_upload.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/supervise/checked_files.h"
#include "assay/supervise/storage_space.h"

namespace assay {

Result<BlobUpload> BlobUpload::start(std::filesystem::path target, std::int64_t total_bytes) {
  BlobUpload upload;
  upload.target_ = std::move(target);
  upload.total_bytes_ = total_bytes;
  ASSAY_ASSIGN_OR_RETURN(const auto usable_bytes, usable_bytes_below(upload.target_.parent_path()));
  if (usable_bytes < total_bytes) {
    return upload.fail_from(ENOSPC);
  }
  upload.temporary_ = fmt::format("{}.part-{}", upload.target_.string(), make_uuid7());
  upload.file_ = FileDescriptor(
      ::open(upload.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!upload.file_.is_open()) {
    return upload.fail_from(errno);
  }
  return upload;
}

Status BlobUpload::append(std::span<const std::byte> content) {
  while (!content.empty()) {
    const auto written = ::write(file_.get(), content.data(), content.size());
    if (written < 0 && errno != EINTR) {
      return fail_from(errno);
    }
    const auto count = written < 0 ? std::size_t{0} : static_cast<std::size_t>(written);
    content = content.subspan(count);
    received_bytes_ += static_cast<std::int64_t>(count);
  }
  return {};
}

Status BlobUpload::finish(CheckedFiles& checked) {
  if (!checked.has_digest(temporary_, target_.filename().string())) {
    discard();
    return fail(ErrorCode::kCorrupt,
                fmt::format("the blob's digest is not {}; send it again, or send its own digest",
                            target_.filename().string()));
  }
  if (::fsync(file_.get()) != 0 || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    return fail_from(errno);
  }
  temporary_.clear();
  const FileDescriptor folder(
      ::open(target_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ::fsync(folder.get());  // File systems without that have done what they can.
  return {};
}

void BlobUpload::discard() {
  if (!temporary_.empty()) {
    std::error_code ignored;
    std::filesystem::remove(std::exchange(temporary_, {}), ignored);
  }
  file_.close();
}

/// Makes room first, so that the free bytes that are told do not miss those of this file.
std::unexpected<Error> BlobUpload::fail_from(int cause) {
  discard();
  return failure_to_store(cause, fmt::format("blob {}", target_.filename().string()), total_bytes_,
                          target_.parent_path());
}

}  // namespace assay
