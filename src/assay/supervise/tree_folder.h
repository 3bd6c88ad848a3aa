#pragma once

#include <filesystem>
#include <utility>

#include "assay/base/result.h"
#include "assay/supervise/blob_folder.h"
#include "assay/supervise/checked_files.h"
#include "assay/wire/agent_messages.h"

namespace assay {

/// Trees of blobs by their digest, in one folder of a device. Several processes may share it.
///
/// A tree is made next to its place and renamed, so there is no half of one. Its files are hard
/// links to the blobs; copies where the system refuses links, and where a file is executable, since
/// all links of a file share its mode.
class TreeFolder {
 public:
  /// `checked` outlives the object.
  TreeFolder(std::filesystem::path folder, CheckedFiles& checked)
      : folder_(std::move(folder)), checked_(checked) {}

  [[nodiscard]] std::filesystem::path path_of(const wire::Tree& tree) const {
    return folder_ / tree.digest;
  }

  /// True if all files of the tree are there and undamaged.
  bool has(const wire::Tree& tree);

  /// Makes the tree, in place of a damaged one, from blobs that are all there.
  /// `tree`: passes check_tree(). Errors: kExhausted, kUnavailable.
  Status make(const wire::Tree& tree, const BlobFolder& blobs);

 private:
  std::filesystem::path folder_;
  CheckedFiles& checked_;
};

}  // namespace assay
