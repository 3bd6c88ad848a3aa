#include "assay/wire/agent_messages.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::wire {
namespace {

/// True if each part between slashes names a file or a folder below the one before.
bool is_path_in_tree(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) {
    return false;
  }
  while (true) {
    const auto slash = std::min(path.find('/'), path.size());
    const auto part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") {
      return false;
    }
    if (slash == path.size()) {
      return true;
    }
    path.remove_prefix(slash + 1);
  }
}

/// Errors: kInvalidArgument when a folder of `path` is one of the files.
Status check_folders_of(const std::string& path, const std::set<std::string, std::less<>>& files) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (files.contains(std::string_view(path).substr(0, slash))) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is both a file of the tree and a folder of '{}'",
                              path.substr(0, slash), path));
    }
  }
  return {};
}

}  // namespace

std::string digest_of_tree(std::vector<TreeFile> files) {
  std::ranges::sort(files, {}, &TreeFile::path);
  return digest_of_json(Json(files));
}

Status check_tree(const Tree& tree) {
  if (tree.files.empty()) {
    return fail(ErrorCode::kInvalidArgument, "a tree needs at least one file");
  }
  std::set<std::string, std::less<>> paths;
  for (const auto& file : tree.files) {
    if (!is_path_in_tree(file.path)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is no path in a tree; give one that is relative and without "
                              "'.', '..' and empty parts",
                              file.path));
    }
    if (!paths.insert(file.path).second) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the tree has the path '{}' twice", file.path));
    }
  }
  for (const auto& path : paths) {
    ASSAY_RETURN_IF_ERROR(check_folders_of(path, paths));
  }
  if (const auto digest = digest_of_tree(tree.files); digest != tree.digest) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the digest of the tree is {} and not '{}'", digest, tree.digest));
  }
  return {};
}

ASSAY_DEFINE_JSON(Put, sha256, offset, total_bytes)
ASSAY_DEFINE_JSON(PutReply, path)
ASSAY_DEFINE_JSON(TreeFile, path, sha256, is_executable)
ASSAY_DEFINE_JSON(Tree, digest, files)
ASSAY_DEFINE_JSON(TreeReply, path, missing)
ASSAY_DEFINE_JSON(Lock, holder)
ASSAY_DEFINE_JSON(LockReply, restored, held_by, agent)
ASSAY_DEFINE_JSON(Policy, frequency, keep_awake)
ASSAY_DEFINE_JSON(PolicyReply, clocks, awake)
ASSAY_DEFINE_JSON(Space, free_bytes, blob_bytes)
ASSAY_DEFINE_JSON(Prune, keep_bytes)
ASSAY_DEFINE_JSON(PruneReply, removed_bytes)

}  // namespace assay::wire
