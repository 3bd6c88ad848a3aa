#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "assay/base/result.h"

namespace assay {

/// SHA-256 of files, each computed once until its time changes. Not thread-safe.
class FileDigests {
 public:
  /// Errors: those of sha256_hex_of_file().
  Result<std::string> get(const std::filesystem::path& file);

 private:
  struct Digested {
    std::filesystem::file_time_type changed;
    std::string sha256;
  };
  std::map<std::filesystem::path, Digested> digests_;
};

}  // namespace assay
