#include "assay/site/ingest.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/sqlite/connection.h"

namespace assay::site {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);

Status check_is_sqlite(const std::filesystem::path& part) {
  std::array<char, kMagic.size()> head{};
  std::ifstream file(part, std::ios::binary);
  file.read(head.data(), head.size());
  if (!file || std::string_view(head.data(), head.size()) != kMagic) {
    return fail(ErrorCode::kCorrupt,
                "the body is no SQLite file; send the file that --store part.db wrote");
  }
  return {};
}

/// Refuses a file that could make a reader do more than read rows.
Status check_has_only_tables(const std::filesystem::path& part) {
  ASSAY_ASSIGN_OR_RETURN(auto connection, sqlite::Connection::open_to_read(part));
  ASSAY_ASSIGN_OR_RETURN(
      const auto others,
      connection.get_integer("SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', "
                             "'index') OR sql LIKE 'CREATE VIRTUAL%'"));
  return others == 0 ? Status()
                     : fail(ErrorCode::kInvalidArgument,
                            "the file holds views, triggers or virtual tables, so Assay did not "
                            "make it; send the file that --store part.db wrote");
}

}  // namespace

Result<std::int64_t> merge_part(const OpenToAdd& open_store, const std::filesystem::path& part) {
  ASSAY_RETURN_IF_ERROR(check_is_sqlite(part));
  ASSAY_RETURN_IF_ERROR(check_has_only_tables(part));
  ASSAY_ASSIGN_OR_RETURN(const auto store, open_store());
  return store->merge_from(part);
}

}  // namespace assay::site
