#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/store/postgres/connection.h"
#include "assay/store/sql/connection.h"

namespace assay::postgres {

/// "SELECT a FROM b WHERE c = $1" from `?` or `?1`.
std::string numbered_parameters(std::string_view sql);

/// A query of a connection, executed with the first step.
class PostgresCursor final : public sql::Cursor {
 public:
  /// `streams`: rows are taken from the server one by one.
  PostgresCursor(Connection& connection, const Libpq& pq, std::string_view sql, bool streams);
  PostgresCursor(const PostgresCursor&) = delete;
  PostgresCursor& operator=(const PostgresCursor&) = delete;
  ~PostgresCursor() override;

  void bind(std::int64_t value) override;
  void bind(double value) override;
  void bind(std::string_view value) override;
  void bind(sql::Blob value) override;
  void bind_null() override;

  Result<bool> step() override;
  void reset() override;
  [[nodiscard]] std::int64_t changed_rows() const override;

  [[nodiscard]] sql::ValueKind kind(int column) const override;
  [[nodiscard]] std::int64_t integer(int column) const override;
  [[nodiscard]] double real(int column) const override;
  [[nodiscard]] std::string text(int column) const override;
  [[nodiscard]] int column_count() const override;
  [[nodiscard]] std::string column_name(int column) const override;

 private:
  Result<bool> step_stream();
  [[nodiscard]] std::string_view bytes(int column) const;

  Connection& connection_;
  const Libpq& pq_;
  bool streams_;
  Query query_;
  ResultSet rows_;
  int row_ = -1;
  bool is_sent_ = false;
};

}  // namespace assay::postgres
