#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "assay/record/subject.h"

namespace assay {

/// Tells when a file of a program is no longer what it was digested as: it was replaced or written
/// to before a launch or during it, and two programs must never be mixed in one row. Not
/// thread-safe.
///
/// A file is digested at its first check and again when its size, time, or place on the disk has
/// changed; else a check costs one stat. One without a digest has that of its first check.
class ProgramWatch {
 public:
  /// A sentence about the first file that is another one by now; empty: all are the same.
  std::string find_change(const Artifact& artifact);

  /// Like find_change(), but after a launch. A file that a command program names as an argument,
  /// that cannot be executed and is none of its places, is taken for one that the command writes,
  /// such as a log: a warning tells so, once, and it is watched no longer.
  std::string find_change_by_launch(const Artifact& artifact);

 private:
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t bytes = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };

  static std::optional<Stamp> stamp_of_file(const std::string& path);
  std::string find_change(const std::string& path, const ArtifactFile& file);

  std::map<std::string, Stamp> known_;  ///< Stamps of files with right digests, keyed by path.
  std::map<std::string, std::string> first_;  ///< Digests of the files that came without one.
  std::set<std::string> written_;             ///< Paths that a launch writes.
};

}  // namespace assay
