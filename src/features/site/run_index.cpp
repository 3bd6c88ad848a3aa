#include "features/site/run_index.h"

#include "features/site/index_documents.h"
#include "features/site/index_rows.h"
#include "features/site/latest_conformance.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/store_files.h"

namespace assay::site {
namespace {

// Raised when a table or a document in it changes, or how cases are judged: the file is then made
// anew.
constexpr std::int64_t kVersion = 8;

constexpr const char* kTables = R"sql(
CREATE TABLE run_row (
  id TEXT PRIMARY KEY NOT NULL,
  stamp TEXT NOT NULL,
  started INTEGER NOT NULL,
  search TEXT NOT NULL,
  document TEXT NOT NULL);
CREATE INDEX run_by_start ON run_row (started, id);
CREATE TABLE run_facet (
  run TEXT NOT NULL,
  facet TEXT NOT NULL,
  value TEXT NOT NULL,
  started INTEGER NOT NULL,
  PRIMARY KEY (facet, value, run)) WITHOUT ROWID;
CREATE INDEX facet_by_run ON run_facet (run);
CREATE TABLE case_row (
  run TEXT NOT NULL,
  n INTEGER NOT NULL,
  case_key TEXT NOT NULL,
  label TEXT NOT NULL,
  model_ref TEXT NOT NULL,
  model TEXT NOT NULL,
  engine TEXT NOT NULL,
  machine TEXT NOT NULL,
  device TEXT NOT NULL,
  started INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  value REAL,
  low REAL,
  high REAL,
  quantities TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (run, n));
CREATE INDEX case_by_key ON case_row (case_key, started, engine, device, verdict, value, low, high, run);
CREATE INDEX case_by_model ON case_row (model_ref, case_key, engine, machine, started, model);
CREATE INDEX case_by_label ON case_row (case_key, label, engine, started);
CREATE TABLE latest_value (
  model_ref TEXT NOT NULL,
  case_key TEXT NOT NULL,
  engine TEXT NOT NULL,
  machine TEXT NOT NULL,
  quantity TEXT NOT NULL,
  is_sound INTEGER NOT NULL,
  started INTEGER NOT NULL,
  run TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (model_ref, case_key, engine, machine, quantity)) WITHOUT ROWID;
CREATE INDEX latest_by_run ON latest_value (run);
CREATE TABLE comparison_row (
  run TEXT NOT NULL,
  n INTEGER NOT NULL,
  id TEXT NOT NULL,
  started INTEGER NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (run, n));
CREATE INDEX comparison_by_id ON comparison_row (id, run);
CREATE INDEX comparison_by_start ON comparison_row (started, run, n);
CREATE TABLE conform_row (
  run TEXT NOT NULL,
  n INTEGER NOT NULL,
  setting TEXT NOT NULL,
  tier TEXT NOT NULL,
  shard TEXT NOT NULL,
  is_whole INTEGER NOT NULL,
  started INTEGER NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (run, n));
CREATE INDEX conform_by_setting ON conform_row (setting, started, tier, shard, is_whole);
CREATE TABLE machine_row (
  run TEXT NOT NULL,
  n INTEGER NOT NULL,
  machine TEXT NOT NULL,
  started INTEGER NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (run, n));
CREATE INDEX machine_by_id ON machine_row (machine, started, run);
CREATE TABLE fleet_row (
  run TEXT NOT NULL,
  n INTEGER NOT NULL,
  started INTEGER NOT NULL,
  is_lost INTEGER NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (run, n));
CREATE INDEX fleet_by_start ON fleet_row (is_lost, started, run, n);
)sql";

constexpr auto kRowsOfRun = std::to_array<std::string_view>(
    {"DELETE FROM run_facet WHERE run = ?", "DELETE FROM case_row WHERE run = ?",
     "DELETE FROM comparison_row WHERE run = ?", "DELETE FROM conform_row WHERE run = ?",
     "DELETE FROM machine_row WHERE run = ?", "DELETE FROM fleet_row WHERE run = ?",
     "DELETE FROM run_row WHERE id = ?"});

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return text;
}

std::string search_text(const RunRow& run) {
  std::string labels;
  for (const auto& [key, value] : run.labels) {
    labels += fmt::format(" {}={}", key, value);
  }
  return lower(fmt::format("{} {} {} {}{} {} {} {} {}", run.id, run.purpose, run.verb, run.name,
                           labels, fmt::join(run.models, " "), fmt::join(run.recipes, " "),
                           fmt::join(run.engines, " "), fmt::join(run.devices, " ")));
}

/// Facets by which a run can be chosen: see RunChoice.
std::vector<std::pair<std::string, std::string>> facets_of(const RunRow& run) {
  std::vector<std::pair<std::string, std::string>> facets = {
      {"verb", run.verb.empty() ? run.purpose : run.verb}};
  for (const auto& [key, value] : run.labels) {
    facets.emplace_back("label", fmt::format("{}{}{}", key, value.empty() ? "" : "=", value));
  }
  for (const auto& model : run.models) {
    facets.emplace_back("model", model);
  }
  for (const auto& device : run.device_names) {
    facets.emplace_back("device", device);
  }
  if (is_step(run)) {
    facets.emplace_back("step", "");
  }
  if (has_failed(run)) {
    facets.emplace_back("failed", "");
  }
  return facets;
}

/// A condition on ?1 to ?6, which choice_texts() gives.
constexpr std::string_view kIsChosen =
    "(?1 = '' OR id IN (SELECT run FROM run_facet WHERE facet = 'verb' AND value = ?1)) AND "
    "(?2 = '' OR id IN (SELECT run FROM run_facet WHERE facet = 'label' AND value = ?2)) AND "
    "(?3 = '' OR id IN (SELECT run FROM run_facet WHERE facet = 'model' AND value = ?3)) AND "
    "(?4 = '' OR id IN (SELECT run FROM run_facet WHERE facet = 'device' AND value = ?4)) AND "
    "(?5 = 1 OR id NOT IN (SELECT run FROM run_facet WHERE facet = 'step')) AND "
    "(?6 = 0 OR id IN (SELECT run FROM run_facet WHERE facet = 'failed'))";

/// A condition that holds where the column has all words of ?1, a JSON list.
std::string all_words_in(std::string_view column) {
  return fmt::format(
      "NOT EXISTS (SELECT 1 FROM json_each(?1) AS wanted WHERE "
      "NOT instr({}, wanted.value))",
      column);
}

std::string list_of_lower(const std::vector<std::string>& words) {
  auto list = Json::array();
  for (const auto& word : words) {
    list.push_back(lower(word));
  }
  return text_from_json(list);
}

Status make_tables(sqlite::Connection& connection) {
  ASSAY_ASSIGN_OR_RETURN(const auto version, connection.get_integer("PRAGMA user_version"));
  if (version == kVersion) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto tables,
                         connection.get_integer("SELECT count(*) FROM sqlite_schema"));
  if (tables != 0) {
    return fail(ErrorCode::kCorrupt, "the index is of another version");
  }
  return connection.in_transaction([&]() -> Status {
    return connection.run_script(fmt::format("{}; PRAGMA user_version = {}", kTables, kVersion));
  });
}

/// Reads in the order of an index, so that nothing is sorted or kept to count what differs.
std::string models_query(std::string_view condition) {
  return fmt::format(
      "SELECT model_ref, max(name), count(*), sum(results), max(last) FROM (SELECT model_ref, "
      "max(model) AS name, count(*) AS results, max(started) AS last FROM case_row {} "
      "GROUP BY model_ref, case_key) GROUP BY model_ref ORDER BY max(last) DESC",
      condition);
}

Result<ModelUse> model_from_row(sql::Statement& row) {
  return ModelUse{.ref = row.text(0),
                  .name = row.text(1),
                  .cases = static_cast<int>(row.integer(2)),
                  .results = static_cast<int>(row.integer(3)),
                  .last_unix_ns = row.integer(4)};
}

Result<sqlite::Connection> open_index(const std::filesystem::path& file) {
  ASSAY_ASSIGN_OR_RETURN(auto connection, sqlite::Connection::open(file));
  ASSAY_RETURN_IF_ERROR(make_tables(connection));
  // Losing the newest rows costs their derivation, nothing else.
  ASSAY_RETURN_IF_ERROR(connection.run_script("PRAGMA synchronous = OFF"));
  return connection;
}

}  // namespace

Result<RunIndex> RunIndex::open(const std::filesystem::path& file) {
  auto connection = open_index(file);
  if (!connection && connection.error().code == ErrorCode::kCorrupt) {
    remove_store_files(file);
    connection = open_index(file);
  }
  ASSAY_ASSIGN_OR_RETURN(auto opened, std::move(connection));
  return RunIndex(std::move(opened));
}

Result<std::map<std::string, std::string>> RunIndex::stamps() {
  ASSAY_ASSIGN_OR_RETURN(
      const auto rows,
      sql::collect(connection_.prepare("SELECT id, stamp FROM run_row"),
                   [](sql::Statement& row) -> Result<std::pair<std::string, std::string>> {
                     return std::pair(row.text(0), row.text(1));
                   }));
  return std::map<std::string, std::string>(rows.begin(), rows.end());
}

Status RunIndex::put(const RunRows& rows, const std::string& stamp) {
  return connection_.in_transaction([&]() -> Status {
    ASSAY_RETURN_IF_ERROR(remove_rows(rows.run.id));
    return put_rows(rows, stamp);
  });
}

Status RunIndex::put_rows(const RunRows& rows, const std::string& stamp) {
  const auto& run = rows.run;
  ASSAY_RETURN_IF_ERROR(connection_.run("INSERT INTO run_row VALUES (?, ?, ?, ?, ?)", run.id, stamp,
                                        run.started_unix_ns, search_text(run), document_text(run)));
  for (const auto& [facet, value] : facets_of(run)) {
    ASSAY_RETURN_IF_ERROR(connection_.run("INSERT OR IGNORE INTO run_facet VALUES (?, ?, ?, ?)",
                                          run.id, facet, value, run.started_unix_ns));
  }
  ASSAY_RETURN_IF_ERROR(put_cases(rows));
  std::int64_t n = 0;
  for (const auto& comparison : rows.comparisons) {
    ASSAY_RETURN_IF_ERROR(connection_.run("INSERT INTO comparison_row VALUES (?, ?, ?, ?, ?)",
                                          run.id, n++, comparison.comparison.id,
                                          run.started_unix_ns, document_text(comparison)));
  }
  n = 0;
  for (const auto& row : rows.conformance) {
    ASSAY_RETURN_IF_ERROR(connection_.run("INSERT INTO conform_row VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                                          run.id, n++, setting_of(row), row.tier, row.shard,
                                          row.is_whole, run.started_unix_ns, document_text(row)));
  }
  n = 0;
  for (const auto& machine : rows.machines) {
    ASSAY_RETURN_IF_ERROR(connection_.run("INSERT INTO machine_row VALUES (?, ?, ?, ?, ?)", run.id,
                                          n++, machine_key(machine), run.started_unix_ns,
                                          document_text(machine)));
  }
  return put_fleet(rows);
}

Status RunIndex::put_cases(const RunRows& rows) {
  const auto& run = rows.run;
  std::int64_t n = 0;
  for (const auto& cell : rows.cases) {
    const auto& summary = cell.summary;
    const auto steady = summary.metrics.find("steady_ns");
    std::optional<double> value;
    std::optional<double> low;
    std::optional<double> high;
    if (steady != summary.metrics.end() && steady->second.special.empty()) {
      value = steady->second.value;
      low = steady->second.low;
      high = steady->second.high;
    }
    ASSAY_RETURN_IF_ERROR(connection_.run(
        "INSERT INTO case_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", run.id, n,
        summary.case_key, lower(summary.label), cell.model_ref, summary.model, summary.engine,
        cell.machine, title_of_device(summary.device, cell.device_class), run.started_unix_ns,
        name_of(summary.verdict), value, low, high, quantities_text(cell.summary),
        document_text(cell)));
    ASSAY_RETURN_IF_ERROR(add_latest(cell, n++));
  }
  return {};
}

Status RunIndex::put_fleet(const RunRows& rows) {
  std::int64_t n = 0;
  const auto put = [&](int is_lost, const std::string& document) {
    return connection_.run("INSERT INTO fleet_row VALUES (?, ?, ?, ?, ?)", rows.run.id, n++,
                           rows.run.started_unix_ns, is_lost, document);
  };
  for (const auto& worker : rows.workers) {
    ASSAY_RETURN_IF_ERROR(put(0, document_text(worker)));
  }
  for (const auto& lost : rows.lost) {
    ASSAY_RETURN_IF_ERROR(put(1, document_text(lost)));
  }
  return {};
}

Status RunIndex::remove(const std::string& run) {
  return connection_.in_transaction([&] { return remove_rows(run); });
}

Status RunIndex::remove_rows(const std::string& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto places, forget_latest(run));
  for (const auto sql : kRowsOfRun) {
    ASSAY_RETURN_IF_ERROR(connection_.run(sql, run));
  }
  return find_latest(places);
}

Result<std::int64_t> RunIndex::count_runs(const RunChoice& choice) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto counts,
      sql::collect(
          connection_.prepare(fmt::format("SELECT count(*) FROM run_row WHERE {}", kIsChosen),
                              choice.verb, choice.label, choice.model, choice.device,
                              choice.has_steps ? 1 : 0, choice.is_failed ? 1 : 0),
          [](sql::Statement& row) -> Result<std::int64_t> { return row.integer(0); }));
  return counts.front();
}

Result<std::vector<RunRow>> RunIndex::runs(std::int64_t offset, std::int64_t limit,
                                           const RunChoice& choice) {
  return read_documents<RunRow>(connection_.prepare(
      fmt::format("SELECT document FROM run_row WHERE {} ORDER BY started DESC, id DESC LIMIT ?7 "
                  "OFFSET ?8",
                  kIsChosen),
      choice.verb, choice.label, choice.model, choice.device, choice.has_steps ? 1 : 0,
      choice.is_failed ? 1 : 0, limit, offset));
}

Result<std::vector<FacetValue>> RunIndex::facet_values(std::int64_t most) {
  return sql::collect(
      connection_.prepare(
          "SELECT facet, value, runs FROM (SELECT facet, value, count(*) AS runs, row_number() "
          "OVER (PARTITION BY facet ORDER BY max(started) DESC, value) AS place FROM run_facet "
          "WHERE value <> '' GROUP BY facet, value) WHERE place <= ? ORDER BY facet, value",
          most),
      [](sql::Statement& row) -> Result<FacetValue> {
        return FacetValue{
            .facet = row.text(0), .value = row.text(1), .runs = static_cast<int>(row.integer(2))};
      });
}

Result<std::vector<RunRow>> RunIndex::search_runs(const std::vector<std::string>& words,
                                                  std::int64_t offset, std::int64_t limit) {
  return read_documents<RunRow>(connection_.prepare(
      fmt::format("SELECT document FROM run_row WHERE {} ORDER BY started DESC, id DESC "
                  "LIMIT ?2 OFFSET ?3",
                  all_words_in("search")),
      list_of_lower(words), limit, offset));
}

Result<std::int64_t> RunIndex::count_found_runs(const std::vector<std::string>& words) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto counts,
      sql::collect(connection_.prepare(
                       fmt::format("SELECT count(*) FROM run_row WHERE {}", all_words_in("search")),
                       list_of_lower(words)),
                   [](sql::Statement& row) -> Result<std::int64_t> { return row.integer(0); }));
  return counts.front();
}

Result<std::optional<RunRow>> RunIndex::find_run(const std::string& run) {
  ASSAY_ASSIGN_OR_RETURN(auto rows, read_documents<RunRow>(connection_.prepare(
                                        "SELECT document FROM run_row WHERE id = ?", run)));
  return rows.empty() ? std::optional<RunRow>() : std::optional(std::move(rows.front()));
}

Result<std::vector<CaseRow>> RunIndex::cases_of_run(const std::string& run) {
  return read_documents<CaseRow>(
      connection_.prepare("SELECT document FROM case_row WHERE run = ? ORDER BY n", run));
}

Result<std::vector<ModelUse>> RunIndex::models() {
  return sql::collect(connection_.prepare(models_query("")), model_from_row);
}

Result<std::vector<std::string>> RunIndex::model_refs() {
  return sql::collect(
      // Jump from one reference to the next in the index, past the rows of each.
      connection_.prepare("WITH RECURSIVE next (ref) AS (SELECT min(model_ref) FROM latest_value "
                          "UNION ALL SELECT (SELECT min(model_ref) FROM latest_value WHERE "
                          "model_ref > ref) FROM next WHERE ref IS NOT NULL) "
                          "SELECT ref FROM next WHERE ref IS NOT NULL"),
      [](sql::Statement& row) -> Result<std::string> { return row.text(0); });
}

Result<ModelUse> RunIndex::model_use(const std::string& ref) {
  return sql::get_one(connection_.prepare(models_query("WHERE model_ref = ?"), ref), model_from_row,
                      "no such model");
}

Result<std::vector<CaseRow>> RunIndex::search_cases(const std::vector<std::string>& words,
                                                    std::int64_t limit) {
  return read_documents<CaseRow>(connection_.prepare(
      fmt::format(
          "SELECT document FROM case_row WHERE rowid IN (SELECT id FROM (SELECT max(started), "
          "rowid AS id FROM case_row WHERE {} GROUP BY case_key)) "
          "ORDER BY started DESC LIMIT ?2",
          all_words_in("label || ' ' || engine || ' ' || case_key")),
      list_of_lower(words), limit));
}

Result<std::vector<CaseRow>> RunIndex::results_of_case(const std::string& key, std::int64_t limit) {
  return read_documents<CaseRow>(connection_.prepare(
      "SELECT document FROM case_row WHERE case_key = ? ORDER BY started DESC LIMIT ?", key,
      limit));
}

Result<std::vector<CasePoint>> RunIndex::points_of_case(const std::string& key,
                                                        std::int64_t limit) {
  ASSAY_ASSIGN_OR_RETURN(
      auto points,
      sql::collect(connection_.prepare(
                       "SELECT run, started, engine, device, verdict, value, low, high FROM "
                       "case_row WHERE case_key = ? AND value IS NOT NULL ORDER BY started DESC "
                       "LIMIT ?",
                       key, limit),
                   [](sql::Statement& row) -> Result<CasePoint> {
                     const double value = row.real(5);
                     return CasePoint{.run = row.text(0),
                                      .started_unix_ns = row.integer(1),
                                      .engine = row.text(2),
                                      .device = row.text(3),
                                      .verdict = row.text(4),
                                      .value = value,
                                      .low = row.is_null(6) ? value : row.real(6),
                                      .high = row.is_null(7) ? value : row.real(7)};
                   }));
  std::ranges::reverse(points);
  return points;
}

Result<std::int64_t> RunIndex::count_comparisons() {
  return connection_.get_integer("SELECT count(*) FROM comparison_row");
}

Result<std::vector<ComparisonRow>> RunIndex::comparisons(std::int64_t offset, std::int64_t limit) {
  return read_documents<ComparisonRow>(connection_.prepare(
      "SELECT document FROM comparison_row ORDER BY started DESC, run DESC, n LIMIT ? OFFSET ?",
      limit, offset));
}

Result<std::string> RunIndex::run_of_comparison(const std::string& comparison) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto runs,
      sql::collect(connection_.prepare("SELECT run FROM comparison_row WHERE id = ?", comparison),
                   [](sql::Statement& row) -> Result<std::string> { return row.text(0); }));
  return runs.empty() ? std::string() : runs.front();
}

Result<std::vector<MachineUse>> RunIndex::machines() {
  return sql::collect(
      connection_.prepare(
          "SELECT document, runs, first, last, run, failed FROM (SELECT machine, count(DISTINCT "
          "run) AS runs, min(started) AS first, max(started) AS last, count(DISTINCT CASE WHEN run "
          "IN (SELECT run FROM run_facet WHERE facet = 'failed') THEN run END) AS failed FROM "
          "machine_row GROUP BY machine) JOIN machine_row USING (machine) WHERE started = last "
          "GROUP BY machine ORDER BY last DESC"),
      [](sql::Statement& row) -> Result<MachineUse> {
        ASSAY_ASSIGN_OR_RETURN(auto newest, row_from_text<MachineRow>(row.text(0)));
        return MachineUse{.newest = std::move(newest),
                          .runs = static_cast<int>(row.integer(1)),
                          .failed_runs = static_cast<int>(row.integer(5)),
                          .first_unix_ns = row.integer(2),
                          .last_unix_ns = row.integer(3),
                          .last_run = row.text(4)};
      });
}

Result<std::vector<RunRow>> RunIndex::runs_of_machine(const MachineRow& machine,
                                                      std::int64_t limit) {
  return read_documents<RunRow>(connection_.prepare(
      // The newest first in the index of machines: the others are not read.
      "SELECT document FROM (SELECT run, started FROM machine_row WHERE machine = ? "
      "GROUP BY started, run ORDER BY started DESC, run DESC LIMIT ?) AS newest "
      "JOIN run_row ON id = newest.run ORDER BY newest.started DESC, newest.run DESC",
      machine_key(machine), limit));
}

}  // namespace assay::site
