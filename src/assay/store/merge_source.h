#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/sql/connection.h"

namespace assay {

/// Another store, opened to be merged from, in today's schema. It stays as it is.
struct MergeSource {
  TemporaryFolder folder;      ///< Holds copies until the merge is over.
  std::filesystem::path file;  ///< An SQLite file; empty for a store in a database server.
  std::unique_ptr<sql::Connection> connection;
};

/// `address`: a file, or postgresql://…. Errors: kNotFound, kCorrupt, kUnsupported (made by a newer
/// Assay), kUnavailable.
Result<MergeSource> open_merge_source(const std::string& address);

}  // namespace assay
