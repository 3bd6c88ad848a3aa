#include "assay/base/file_digests.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "assay/base/clock.h"
#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

constexpr const char* kFileDigestsSchema = "assay/file-digests/1";
constexpr std::int64_t kSettledNs = 2'000'000'000;

/// Tells a file's content from another one's without reading it.
struct FileStamp {
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  std::int64_t changed_ns = 0;
};

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    return std::nullopt;
  }
  // The time of the last change of the inode: a program cannot set it back.
  return FileStamp{
      .inode = status.st_ino,
      .bytes = status.st_size,
      .changed_ns = std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
}

}  // namespace

FileDigests::FileDigests(std::filesystem::path file) : file_(std::move(file)) {
  const auto document = read_json_file(file_);
  if (!document || !document->is_object() || document->value("schema", "") != kFileDigestsSchema) {
    return;
  }
  try {
    for (const auto& [path, entry] : document->at("files").items()) {
      entries_[path] = {.inode = entry.at("inode"),
                        .bytes = entry.at("bytes"),
                        .changed_ns = entry.at("changed_ns"),
                        .sha256 = entry.at("sha256")};
    }
  } catch (const Json::exception&) {
    entries_.clear();
  }
}

Result<std::string> FileDigests::digest_of(const std::filesystem::path& path) {
  const auto name = std::filesystem::absolute(path).lexically_normal().string();
  const auto stamp = stamp_of(name);
  const auto known = entries_.find(name);
  if (stamp && known != entries_.end() && known->second.inode == stamp->inode &&
      known->second.bytes == stamp->bytes && known->second.changed_ns == stamp->changed_ns) {
    return known->second.sha256;
  }
  ASSAY_ASSIGN_OR_RETURN(auto digest, sha256_hex_of_file(path));
  if (stamp && unix_time_ns() - stamp->changed_ns > kSettledNs) {
    entries_[name] = {.inode = stamp->inode,
                      .bytes = stamp->bytes,
                      .changed_ns = stamp->changed_ns,
                      .sha256 = digest};
    is_changed_ = true;
  }
  return digest;
}

Status FileDigests::write() {
  if (!is_changed_) {
    return {};
  }
  Json files = Json::object();
  for (const auto& [path, entry] : entries_) {
    if (stamp_of(path)) {
      files[path] = {{"inode", entry.inode},
                     {"bytes", entry.bytes},
                     {"changed_ns", entry.changed_ns},
                     {"sha256", entry.sha256}};
    }
  }
  is_changed_ = false;
  return write_file_atomically(
      file_, Json{{"schema", kFileDigestsSchema}, {"files", std::move(files)}}.dump(1) + "\n");
}

}  // namespace assay
