#include "assay/supervise/blob_folder.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <system_error>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {
namespace {

bool is_sha256(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::filesystem::path variable_or(const char* name, const std::filesystem::path& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::filesystem::path(value) : otherwise;
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
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return false;
  }
  if (checked_.contains(sha256)) {
    return true;
  }
  const auto found = sha256_hex_of_file(path);
  if (!found || *found != sha256) {
    std::filesystem::remove(path, ignored);
    return false;
  }
  checked_.emplace(sha256);
  return true;
}

Result<std::filesystem::path> BlobFolder::put(std::string_view sha256,
                                              std::span<const std::byte> content) {
  ASSAY_ASSIGN_OR_RETURN(auto path, path_of(sha256));
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  if (const auto found = sha256_hex(text); found != sha256) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("the blob's digest is {} and not {}; send it again", found, sha256));
  }
  ASSAY_RETURN_IF_ERROR(write_file_atomically(path, text));
  checked_.emplace(sha256);
  return path;
}

std::filesystem::path default_blob_folder() {
  const auto cache = variable_or("XDG_CACHE_HOME", variable_or("HOME", "/tmp") / ".cache");
  return variable_or("ASSAY_AGENT_HOME", cache / "assay-agent") / "blobs";
}

}  // namespace assay
