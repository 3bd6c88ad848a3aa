#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

/// Bodies of the messages between host and agent about the files and the lock of a device.
namespace assay::wire {

/// put -> PutReply; blob: the bytes from `offset` on. Parts come in order, and the first part of
/// another blob ends one that is not whole.
struct Put {
  std::string sha256;  ///< Digest of the whole blob.
  std::int64_t offset = 0;
  std::int64_t total_bytes = -1;  ///< Size of the whole blob; -1: this part is the whole.
};

struct PutReply {
  std::string path;  ///< Empty until the last part has come.
};

struct TreeFile {
  std::string path;  ///< Path in the tree, with "/".
  std::string sha256;
  bool is_executable = false;
};

/// tree -> TreeReply: a folder of blobs under names of their own, as libraries need them.
struct Tree {
  std::string digest;  ///< digest_of_tree(files)
  std::vector<TreeFile> files;
};

/// Either the folder, or what must be put before it can be made.
struct TreeReply {
  std::string path;
  std::vector<std::string> missing;  ///< SHA-256 of blobs, each once.
};

/// lock -> LockReply: the device is this agent's until it ends, unless somebody else has it.
struct Lock {
  std::string holder;  ///< Name shown to others who want it meanwhile: "ann@build1, run 0190…".
};

struct LockReply {
  std::string restored;  ///< Settings that an agent left which was killed, and that are taken back.
  std::string held_by;   ///< Who has it; empty: this agent.
  int agent = 0;         ///< The process there by which they have it; 0: it is theirs.
};

/// policy -> PolicyReply: settings of a device that is this agent's, until it ends.
struct Policy {
  std::string frequency = "leave";  ///< A text for frequency_target_from_text().
  bool keep_awake = false;
};

struct PolicyReply {
  std::vector<std::string> clocks;  ///< "policy4: performance, 1.8 GHz", as read back.
  std::string awake;                ///< "systemd-inhibit": what keeps it awake; empty: nothing.
};

/// space -> Space.
struct Space {
  std::int64_t free_bytes = 0;  ///< Free for this user on the file system of the agent's folder.
  /// Size of blobs and trees; a file with several names counts once.
  std::int64_t blob_bytes = 0;
};

/// prune -> PruneReply: removes the blobs and trees that were not used for longest. What this agent
/// was asked for before is no longer in use.
struct Prune {
  std::int64_t keep_bytes = 0;  ///< Stops when no more are left.
};

struct PruneReply {
  std::int64_t removed_bytes = 0;
};

/// SHA-256 of the canonical JSON of the files in the order of their paths.
std::string digest_of_tree(std::vector<TreeFile> files);

/// Errors: kInvalidArgument for a digest of other files, for a tree without files, and for a path
/// that is empty, absolute, not normal ("a//b", "./a"), leads out of the tree, occurs twice, or is
/// both a file and a folder.
Status check_tree(const Tree& tree);

ASSAY_DECLARE_JSON(Put);
ASSAY_DECLARE_JSON(PutReply);
ASSAY_DECLARE_JSON(TreeFile);
ASSAY_DECLARE_JSON(Tree);
ASSAY_DECLARE_JSON(TreeReply);
ASSAY_DECLARE_JSON(Lock);
ASSAY_DECLARE_JSON(LockReply);
ASSAY_DECLARE_JSON(Policy);
ASSAY_DECLARE_JSON(PolicyReply);
ASSAY_DECLARE_JSON(Space);
ASSAY_DECLARE_JSON(Prune);
ASSAY_DECLARE_JSON(PruneReply);

}  // namespace assay::wire
