#include "assay/supervise/agent_storage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/base/abandoned_folders.h"
#include "assay/base/claims.h"
#include "assay/base/result.h"
#include "assay/supervise/last_use.h"
#include "assay/supervise/storage_space.h"
#include "assay/supervise/stored_items.h"
#include "assay/wire/agent_messages.h"

namespace assay {

Status AgentStorage::claim(std::string_view digest) {
  if (!claims_) {
    ASSAY_ASSIGN_OR_RETURN(claims_, Claims::open(claims_file()));
  }
  return claims_->share(digest);
}

Result<AgentStorage::Blob> AgentStorage::find_blob(std::string_view sha256) {
  ASSAY_ASSIGN_OR_RETURN(const auto path, blobs_.path_of(sha256));
  ASSAY_RETURN_IF_ERROR(claim(sha256));
  ASSAY_ASSIGN_OR_RETURN(const bool is_there, blobs_.has(sha256));
  if (is_there) {
    note_use(path);
  }
  return Blob{.is_there = is_there, .path = path.string()};
}

Result<wire::PutReply> AgentStorage::put(const wire::Put& part,
                                         std::span<const std::byte> content) {
  ASSAY_RETURN_IF_ERROR(blobs_.path_of(part.sha256));
  ASSAY_RETURN_IF_ERROR(claim(part.sha256));
  if (part.offset == 0) {
    const auto bytes = static_cast<std::int64_t>(content.size());
    ASSAY_RETURN_IF_ERROR(make_room(std::max(part.total_bytes, bytes)));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto path, blobs_.put(part, content));
  return wire::PutReply{.path = path ? path->string() : ""};
}

Result<wire::TreeReply> AgentStorage::make_tree(const wire::Tree& tree) {
  ASSAY_RETURN_IF_ERROR(wire::check_tree(tree));
  ASSAY_RETURN_IF_ERROR(claim(tree.digest));
  wire::TreeReply reply{.path = trees_.path_of(tree).string()};
  if (trees_.has(tree)) {
    note_use_of_tree(reply.path);
    return reply;
  }
  std::set<std::string> blobs;
  std::int64_t copied_bytes = 0;  // Executable files are no links.
  for (const auto& file : tree.files) {
    blobs.insert(file.sha256);
    ASSAY_ASSIGN_OR_RETURN(const auto blob, blobs_.path_of(file.sha256));
    std::error_code error;
    const auto bytes = file.is_executable ? std::filesystem::file_size(blob, error) : 0;
    copied_bytes += error ? 0 : static_cast<std::int64_t>(bytes);
  }
  for (const auto& sha256 : blobs) {
    ASSAY_ASSIGN_OR_RETURN(const auto blob, find_blob(sha256));
    if (!blob.is_there) {
      reply.missing.push_back(sha256);
    }
  }
  if (!reply.missing.empty()) {
    reply.path.clear();
    return reply;
  }
  ASSAY_RETURN_IF_ERROR(make_room(copied_bytes));
  ASSAY_RETURN_IF_ERROR(trees_.make(tree, blobs_));
  return reply;
}

Status AgentStorage::make_room(std::int64_t bytes) {
  ASSAY_ASSIGN_OR_RETURN(const auto usable_bytes, usable_bytes_below(home_));
  StoredItems items(home_);
  const auto kept_bytes = items.total_bytes();
  const auto share_bytes = (usable_bytes + kept_bytes) / 2;
  const auto excess_bytes = std::max(bytes - usable_bytes, kept_bytes + bytes - share_bytes);
  if (excess_bytes <= 0 || kept_bytes == 0) {
    return {};
  }
  // Claims of their own, so that what this agent was asked for is in use as well.
  ASSAY_ASSIGN_OR_RETURN(auto claims, Claims::open(claims_file()));
  const auto keep_bytes = std::max<std::int64_t>(kept_bytes - excess_bytes, 0);
  ASSAY_ASSIGN_OR_RETURN([[maybe_unused]] const auto removed,
                         items.remove_oldest(keep_bytes, claims));
  return {};
}

Result<wire::Space> AgentStorage::space() {
  ASSAY_ASSIGN_OR_RETURN(const auto free_bytes, free_bytes_below(home_));
  return wire::Space{.free_bytes = free_bytes, .blob_bytes = StoredItems(home_).total_bytes()};
}

Result<std::int64_t> AgentStorage::prune(std::int64_t keep_bytes) {
  if (keep_bytes < 0) {
    return fail(ErrorCode::kInvalidArgument, "the bytes to keep cannot be less than 0");
  }
  remove_abandoned_folders();
  forget_claims();
  ASSAY_ASSIGN_OR_RETURN(auto claims, Claims::open(claims_file()));
  return StoredItems(home_).remove_oldest(keep_bytes, claims);
}

}  // namespace assay
