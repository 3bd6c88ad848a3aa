// Series over the revisions of repositories, and their points.
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/measured_series.h"
#include "assay/store/result_store.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/sql_store.h"

namespace assay::sql {
namespace {

std::optional<double> real_or_none(const Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.real(column));
}

Result<MeasuredPoint> read_point(Statement& row) {
  return MeasuredPoint{.revision = row.text(0),
                       .position = row.integer(1),
                       .run = row.text(2),
                       .machine = row.text(3),
                       .reference = row.text(4),
                       .value = row.real(5),
                       .offset = row.real(6),
                       .low = real_or_none(row, 7),
                       .high = real_or_none(row, 8),
                       .measured_unix_ns = row.integer(9)};
}

}  // namespace

Status SqlResultStore::add_points(const MeasuredSeries& series,
                                  std::span<const MeasuredPoint> points) {
  return connection_.in_transaction([&]() -> Status {
    ASSAY_RETURN_IF_ERROR(
        connection_.run("INSERT INTO series VALUES (?, ?, ?) ON CONFLICT DO NOTHING", series.key(),
                        series.repository, text_from_record(series)));
    for (const auto& point : points) {
      ASSAY_RETURN_IF_ERROR(connection_.run(
          "INSERT INTO point VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
          series.key(), point.position, point.revision, point.run, point.machine, point.reference,
          point.value, point.offset, point.low, point.high, point.measured_unix_ns));
    }
    return {};
  });
}

Result<std::vector<MeasuredSeries>> SqlResultStore::series_of(std::string_view repository_id) {
  return collect(
      connection_.prepare("SELECT document FROM series WHERE repository = ? ORDER BY rowid",
                          repository_id),
      [](Statement& row) { return record_from_text<MeasuredSeries>(row.text(0), "series"); });
}

Result<std::vector<MeasuredPoint>> SqlResultStore::points_of(const MeasuredSeries& series) {
  const auto key = series.key();
  ASSAY_ASSIGN_OR_RETURN(
      auto points,
      collect(
          connection_.prepare(
              "SELECT revision, position, run, machine, reference, value, \"offset\", low, high, "
              "measured_unix_ns FROM point WHERE series = ? ORDER BY position, "
              "measured_unix_ns, run",
              key),
          read_point));
  for (auto& point : points) {
    point.series = key;
  }
  return points;
}

}  // namespace assay::sql
