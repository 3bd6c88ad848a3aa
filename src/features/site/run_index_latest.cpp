// The newest value of each quantity: kept while runs are put and removed, so that a page reads it
// however many runs there are.
#include "features/site/index_documents.h"
#include "features/site/index_rows.h"
#include "features/site/latest_case.h"
#include "features/site/latest_conformance.h"
#include "features/site/run_index.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"

namespace assay::site {
namespace {

/// Runs of a setting of which none was of all cases; older ones are not read.
constexpr std::size_t kMostPartialRuns = 64;

constexpr const char* kPutLatest =
    "INSERT INTO latest_value VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
    "is_sound = excluded.is_sound, started = excluded.started, run = excluded.run, n = excluded.n "
    "WHERE (excluded.is_sound, excluded.started, excluded.run) > (is_sound, started, run)";

// ?6: whether it is sound, ?7: the mark of that in the quantities of a case.
constexpr const char* kFindLatest =
    "INSERT INTO latest_value SELECT ?1, ?2, ?3, ?4, ?5, ?6, started, run, n FROM case_row WHERE "
    "model_ref = ?1 AND case_key = ?2 AND engine = ?3 AND machine = ?4 AND instr(quantities, ?7) "
    "ORDER BY started DESC, run DESC LIMIT 1";

constexpr const char* kLatestOfModel =
    "SELECT cell.case_key, cell.engine, cell.machine, quantity, run, n FROM "
    "(SELECT case_key, engine, machine, max(started) AS last FROM latest_value WHERE model_ref = "
    "?1 "
    "GROUP BY case_key, engine, machine ORDER BY last DESC LIMIT ?2) AS cell JOIN latest_value AS "
    "value ON value.model_ref = ?1 AND value.case_key = cell.case_key AND "
    "value.engine = cell.engine AND value.machine = cell.machine "
    "ORDER BY last DESC, cell.case_key, cell.engine, cell.machine";

/// A quantity of a case, and the row that has its newest value.
struct ValuePlace {
  std::string cell;  ///< Key, engine and machine.
  std::string quantity;
  std::pair<std::string, std::int64_t> row;  ///< Run and number in it.
};

/// A run of a setting, without its verdicts.
struct ConformPlace {
  std::string tier;
  std::string shard;
  bool is_whole = false;
  std::string run;
  std::int64_t n = 0;
};

/// Rows of the index that were read, each once.
class KnownRows {
 public:
  explicit KnownRows(sqlite::Connection& connection) : connection_(connection) {}

  Result<const CaseRow*> get(const std::pair<std::string, std::int64_t>& place) {
    if (const auto known = rows_.find(place); known != rows_.end()) {
      return &known->second;
    }
    ASSAY_ASSIGN_OR_RETURN(
        auto row, sql::get_one(
                      connection_.prepare("SELECT document FROM case_row WHERE run = ? AND n = ?",
                                          place.first, place.second),
                      [](sql::Statement& one) { return row_from_text<CaseRow>(one.text(0)); },
                      "the index of the site lacks a case"));
    return &rows_.emplace(place, std::move(row)).first->second;
  }

 private:
  sqlite::Connection& connection_;
  std::map<std::pair<std::string, std::int64_t>, CaseRow> rows_;
};

}  // namespace

Status RunIndex::add_latest(const CaseRow& row, std::int64_t n) {
  const auto& summary = row.summary;
  for (const auto& quantity : quantities_of(summary)) {
    ASSAY_RETURN_IF_ERROR(connection_.run(kPutLatest, row.model_ref, summary.case_key,
                                          summary.engine, row.machine, quantity.name,
                                          quantity.is_sound, row.started_unix_ns, row.run, n));
  }
  return {};
}

Result<std::vector<RunIndex::LatestPlace>> RunIndex::forget_latest(const std::string& run) {
  ASSAY_ASSIGN_OR_RETURN(
      auto places,
      sql::collect(connection_.prepare("SELECT model_ref, case_key, engine, machine, quantity FROM "
                                       "latest_value WHERE run = ?",
                                       run),
                   [](sql::Statement& row) -> Result<LatestPlace> {
                     return LatestPlace{.model_ref = row.text(0),
                                        .case_key = row.text(1),
                                        .engine = row.text(2),
                                        .machine = row.text(3),
                                        .quantity = row.text(4)};
                   }));
  ASSAY_RETURN_IF_ERROR(connection_.run("DELETE FROM latest_value WHERE run = ?", run));
  return places;
}

Status RunIndex::find_latest(const std::vector<LatestPlace>& places) {
  for (const auto& place : places) {
    for (const bool is_sound : {true, false}) {
      ASSAY_ASSIGN_OR_RETURN(
          auto found, connection_.prepare(kFindLatest, place.model_ref, place.case_key,
                                          place.engine, place.machine, place.quantity, is_sound,
                                          quantity_mark({place.quantity, is_sound})));
      ASSAY_ASSIGN_OR_RETURN(const auto count, found.run_counted());
      if (count > 0) {
        break;
      }
    }
  }
  return {};
}

Result<std::vector<LatestCase>> RunIndex::newest_of_model(const std::string& ref,
                                                          std::int64_t limit) {
  ASSAY_ASSIGN_OR_RETURN(const auto places,
                         sql::collect(connection_.prepare(kLatestOfModel, ref, limit),
                                      [](sql::Statement& row) -> Result<ValuePlace> {
                                        return ValuePlace{.cell = row.text(0) + "\n" + row.text(1) +
                                                                  "\n" + row.text(2),
                                                          .quantity = row.text(3),
                                                          .row = {row.text(4), row.integer(5)}};
                                      }));
  KnownRows rows(connection_);
  std::vector<LatestCase> cases;
  for (std::size_t i = 0; i < places.size();) {
    std::map<std::string, const CaseRow*> own;
    const auto& cell = places[i].cell;
    for (; i < places.size() && places[i].cell == cell; ++i) {
      ASSAY_ASSIGN_OR_RETURN(own[places[i].quantity], rows.get(places[i].row));
    }
    cases.push_back(latest_from_rows(own));
  }
  return cases;
}

Result<ConformRow> RunIndex::newest_of_setting(const std::string& setting) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto runs,
      sql::collect(connection_.prepare("SELECT tier, shard, is_whole, run, n FROM conform_row "
                                       "WHERE setting = ? ORDER BY started DESC",
                                       setting),
                   [](sql::Statement& row) -> Result<ConformPlace> {
                     return ConformPlace{.tier = row.text(0),
                                         .shard = row.text(1),
                                         .is_whole = row.integer(2) != 0,
                                         .run = row.text(3),
                                         .n = row.integer(4)};
                   }));
  ConformCover cover;
  std::vector<ConformRow> rows;
  std::size_t partial = 0;
  for (const auto& place : runs) {
    const bool is_left_out = !place.is_whole && partial == kMostPartialRuns;
    if (is_left_out || !cover.take(place.tier, place.shard, place.is_whole)) {
      continue;
    }
    partial += place.is_whole ? 0 : 1;
    ASSAY_ASSIGN_OR_RETURN(
        auto row,
        sql::get_one(
            connection_.prepare("SELECT document FROM conform_row WHERE run = ? AND n = ?",
                                place.run, place.n),
            [](sql::Statement& one) { return row_from_text<ConformRow>(one.text(0)); },
            "the index of the site lacks a run of conformance"));
    rows.push_back(std::move(row));
  }
  return latest_from_runs(rows);
}

Result<std::vector<ConformRow>> RunIndex::newest_conformance(std::int64_t limit) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto settings,
      sql::collect(connection_.prepare("SELECT setting FROM conform_row GROUP BY setting "
                                       "ORDER BY max(started) DESC LIMIT ?",
                                       limit),
                   [](sql::Statement& row) -> Result<std::string> { return row.text(0); }));
  std::vector<ConformRow> latest;
  for (const auto& setting : settings) {
    ASSAY_ASSIGN_OR_RETURN(auto row, newest_of_setting(setting));
    latest.push_back(std::move(row));
  }
  return latest;
}

}  // namespace assay::site
