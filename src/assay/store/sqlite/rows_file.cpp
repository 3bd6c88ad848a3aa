#include "assay/store/sqlite/rows_file.h"

#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/base/result.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/merge.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/migrations.h"
#include "assay/store/store_files.h"

namespace assay::sqlite {
namespace {

class FileTarget final : public sql::RowTarget {
 public:
  explicit FileTarget(Connection& connection) : connection_(connection) {}

  Status add_rows(std::string_view table, std::string_view columns, sql::Statement& rows) override {
    ASSAY_ASSIGN_OR_RETURN(bool has_row, rows.step());
    if (!has_row) {
      return {};
    }
    std::string marks = "?";
    for (int i = 1; i < rows.column_count(); ++i) {
      marks += ", ?";
    }
    ASSAY_ASSIGN_OR_RETURN(
        auto insert,
        connection_.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", table, columns, marks)));
    while (has_row) {
      ASSAY_RETURN_IF_ERROR(insert.run_with(rows));
      ASSAY_ASSIGN_OR_RETURN(has_row, rows.step());
    }
    return {};
  }

 private:
  Connection& connection_;
};

}  // namespace

namespace {

Status fill_store(const std::filesystem::path& file,
                  const std::function<Status(sql::RowTarget&)>& give) {
  ASSAY_ASSIGN_OR_RETURN(auto connection, Connection::open(file));
  ASSAY_RETURN_IF_ERROR(migrate(connection));
  FileTarget target(connection);
  return connection.in_transaction([&] { return give(target); });
}

}  // namespace

Status make_store_of_rows(const std::filesystem::path& file,
                          const std::function<Status(sql::RowTarget&)>& give) {
  const std::filesystem::path partial(file.string() + ".partial");
  remove_store_files(partial);
  const auto status = fill_store(partial, give);
  std::error_code error;
  if (status) {
    std::filesystem::rename(partial, file, error);
  }
  remove_store_files(partial);
  return error ? fail(ErrorCode::kUnavailable,
                      fmt::format("cannot write '{}': {}", file.string(), error.message()))
               : status;
}

}  // namespace assay::sqlite
