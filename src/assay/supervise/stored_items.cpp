#include "assay/supervise/stored_items.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "assay/base/claims.h"
#include "assay/base/result.h"
#include "assay/supervise/last_use.h"

namespace assay {

namespace stdfs = std::filesystem;

StoredItems::StoredItems(const stdfs::path& home) {
  for (const auto* folder : {"blobs", "trees"}) {
    std::error_code error;
    for (stdfs::directory_iterator entry(home / folder, error), end; !error && entry != end;
         entry.increment(error)) {
      add(entry->path());
    }
  }
  std::ranges::sort(items_, {}, &Item::last_use_unix_ns);
}

void StoredItems::add(const stdfs::path& path) {
  const auto name = path.filename().string();
  // Parts of a blob or a tree that is being made are claimed with it: "DIGEST.part-…".
  Item item{.path = path,
            .digest = name.substr(0, name.find('.')),
            .last_use_unix_ns = last_use_unix_ns(path),
            .files = {}};
  add_file(item, path);
  std::error_code error;
  if (stdfs::is_directory(stdfs::symlink_status(path, error))) {
    for (stdfs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      add_file(item, entry->path());
    }
  }
  items_.push_back(std::move(item));
}

void StoredItems::add_file(Item& item, const stdfs::path& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return;
  }
  auto& file = files_[{info.st_dev, info.st_ino}];
  total_bytes_ += file.names == 0 ? info.st_size : 0;
  file.bytes = info.st_size;
  ++file.names;
  item.files.emplace_back(info.st_dev, info.st_ino);
}

void StoredItems::remove(const Item& item) {
  std::error_code error;
  stdfs::remove_all(item.path, error);
  if (error) {
    return;  // Its bytes are still there.
  }
  for (const auto& id : item.files) {
    auto& file = files_[id];
    total_bytes_ -= --file.names == 0 ? file.bytes : 0;
  }
}

Result<std::int64_t> StoredItems::remove_oldest(std::int64_t keep_bytes, Claims& claims) {
  const auto before_bytes = total_bytes_;
  for (const auto& item : items_) {
    const bool is_part = item.path.filename() != item.digest;
    if (total_bytes_ <= keep_bytes && !is_part) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const bool is_unused, claims.try_take(item.digest));
    if (is_unused) {
      remove(item);
      ASSAY_RETURN_IF_ERROR(claims.release(item.digest));
    }
  }
  return before_bytes - total_bytes_;
}

}  // namespace assay
