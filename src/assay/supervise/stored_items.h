#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "assay/base/claims.h"
#include "assay/base/result.h"

namespace assay {

/// The blobs and trees in the folder of an agent, as they are when the object is made, with the
/// bytes that they take. A file that has several names takes its bytes until the last one goes.
class StoredItems {
 public:
  explicit StoredItems(const std::filesystem::path& home);

  [[nodiscard]] std::int64_t total_bytes() const { return total_bytes_; }

  /// Removes items until at most `keep_bytes` are left, those first that were not used for longest,
  /// and none that another object than `claims` has claimed under its digest. Returns the bytes
  /// that are gone. Errors: kUnavailable when the claims cannot be used.
  Result<std::int64_t> remove_oldest(std::int64_t keep_bytes, Claims& claims);

 private:
  using FileId = std::pair<dev_t, ino_t>;
  struct Item {
    std::filesystem::path path;
    std::string digest;
    std::int64_t last_use_unix_ns = 0;
    std::vector<FileId> files;
  };
  struct File {
    std::int64_t bytes = 0;
    int names = 0;
  };
  void add(const std::filesystem::path& path);
  void add_file(Item& item, const std::filesystem::path& path);
  void remove(const Item& item);

  std::vector<Item> items_;
  std::map<FileId, File> files_;
  std::int64_t total_bytes_ = 0;
};

}  // namespace assay
