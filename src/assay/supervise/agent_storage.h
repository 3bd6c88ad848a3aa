#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/claims.h"
#include "assay/base/result.h"
#include "assay/supervise/blob_folder.h"
#include "assay/supervise/checked_files.h"
#include "assay/supervise/tree_folder.h"
#include "assay/wire/agent_messages.h"

namespace assay {

/// The files that an agent keeps for its hosts: blobs and trees of them, in its folder. Several
/// agents may share a folder. What one was asked for is claimed until it ends, so that none removes
/// what another uses. Not thread-safe.
class AgentStorage {
 public:
  explicit AgentStorage(std::filesystem::path home)
      : home_(std::move(home)),
        blobs_(home_ / "blobs", checked_),
        trees_(home_ / "trees", checked_) {}
  AgentStorage(const AgentStorage&) = delete;
  AgentStorage& operator=(const AgentStorage&) = delete;

  [[nodiscard]] const std::filesystem::path& home() const { return home_; }

  struct Blob {
    bool is_there = false;
    std::string path;  ///< Its path, whether or not it is there.
  };
  /// Errors: kInvalidArgument for what is no SHA-256; kUnavailable when the folder cannot be used.
  Result<Blob> find_blob(std::string_view sha256);

  /// Makes room by removing what no living agent was asked for. Errors: those of BlobFolder::put().
  Result<wire::PutReply> put(const wire::Put& part, std::span<const std::byte> content);

  /// Errors: those of check_tree() and TreeFolder::make().
  Result<wire::TreeReply> make_tree(const wire::Tree& tree);

  /// Errors: kUnavailable.
  Result<wire::Space> space();

  /// Ends the claims of this agent, then removes the blobs and trees that were not used for longest
  /// until at most `keep_bytes` are left; none that another living agent was asked for. Also
  /// removes parts of what was never whole, and temporary folders of agents that were killed.
  /// Returns the bytes that are free thereby. Errors: kInvalidArgument for less than 0;
  /// kUnavailable.
  Result<std::int64_t> prune(std::int64_t keep_bytes);

  /// Ends the claims of this agent: what it needs, it must be asked for again.
  void forget_claims() { claims_.reset(); }

 private:
  /// Removes what was not used for longest where so many new bytes would leave the device's other
  /// programs too little, or Assay more than half of the room.
  Status make_room(std::int64_t bytes);
  [[nodiscard]] std::filesystem::path claims_file() const { return home_ / "claims"; }
  Status claim(std::string_view digest);

  std::filesystem::path home_;
  std::optional<Claims> claims_;
  CheckedFiles checked_;
  BlobFolder blobs_;
  TreeFolder trees_;
};

}  // namespace assay
