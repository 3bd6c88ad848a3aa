#include "assay/supervise/blob_folder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/result.h"
#include "assay/supervise/agent_home.h"
#include "assay/supervise/blob_upload.h"
#include "assay/wire/agent_messages.h"

namespace assay {
namespace {

bool is_sha256(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

Result<std::filesystem::path> BlobFolder::path_of(std::string_view sha256) const {
  if (!is_sha256(sha256)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a SHA-256 in lower-case hexadecimal digits", sha256));
  }
  return folder_ / sha256;
}

Result<bool> BlobFolder::has(std::string_view sha256) {
  ASSAY_ASSIGN_OR_RETURN(const auto path, path_of(sha256));
  std::error_code ignored;
  // One that appears from now on is another agent's, and whole.
  const bool is_named = std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
  const bool is_there = is_named && checked_.has_digest(path, sha256);
  if (is_named && !is_there) {
    std::filesystem::remove(path, ignored);
  }
  return is_there;
}

Result<BlobUpload*> BlobFolder::open_upload(const wire::Put& part, std::int64_t total_bytes) {
  ASSAY_ASSIGN_OR_RETURN(auto path, path_of(part.sha256));
  if (part.offset == 0) {
    upload_.reset();
    ASSAY_ASSIGN_OR_RETURN(auto upload, BlobUpload::start(std::move(path), total_bytes));
    return &upload_.emplace(std::move(upload));
  }
  if (!upload_ || upload_->target() != path || upload_->received_bytes() != part.offset ||
      upload_->total_bytes() != total_bytes) {
    upload_.reset();
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the part at {} of blob {} follows no other; send the blob from its "
                            "beginning",
                            part.offset, part.sha256));
  }
  return &*upload_;
}

Result<std::optional<std::filesystem::path>> BlobFolder::put(const wire::Put& part,
                                                             std::span<const std::byte> content) {
  const auto bytes = static_cast<std::int64_t>(content.size());
  const auto total_bytes = part.total_bytes < 0 ? bytes : part.total_bytes;
  if (part.offset < 0 || bytes > total_bytes || part.offset > total_bytes - bytes) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} bytes at {} are no part of a blob of {}", bytes, part.offset, total_bytes));
  }
  ASSAY_ASSIGN_OR_RETURN(auto* const upload, open_upload(part, total_bytes));
  auto status = upload->append(content);
  if (status && upload->received_bytes() < total_bytes) {
    return std::nullopt;
  }
  status = status ? upload->finish(checked_) : status;
  auto path = upload->target();
  upload_.reset();
  ASSAY_RETURN_IF_ERROR(std::move(status));
  return path;
}

std::filesystem::path default_blob_folder() { return agent_home() / "blobs"; }

}  // namespace assay
