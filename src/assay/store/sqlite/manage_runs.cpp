// Management of stored runs: listing, labelling, removal.
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/claims.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"
#include "assay/store/sqlite/connection.h"
#include "assay/store/sqlite/rows.h"
#include "assay/store/sqlite/sqlite_store.h"

namespace assay {

std::string RunListing::verb() const { return run.argv.size() < 2 ? "" : run.argv[1]; }

namespace sqlite {
namespace {

// ?1 purpose, ?2 labels as a JSON object, ?3 texts as a JSON array, ?4 limit, ?5 purpose or verb,
// ?6 model, ?7 id, ?8 reference or id of an engine build, ?9 hash of a revision.
constexpr std::string_view kWantedRuns =
    "WHERE (?7 = '' OR run.id = ?7) AND (?1 = '' OR purpose = ?1) AND "
    "(?5 = '' OR purpose = ?5 OR json_extract(argv, '$[1]') = ?5) AND "
    "NOT EXISTS (SELECT 1 FROM json_each(?2) AS wanted WHERE "
    "NOT EXISTS (SELECT 1 FROM json_each(run.labels) AS own WHERE own.key = wanted.key AND "
    "(wanted.value = '' OR own.value = wanted.value))) AND "
    "NOT EXISTS (SELECT 1 FROM json_each(?3) AS wanted WHERE NOT "
    "instr(lower(run.id || ' ' || name || ' ' || argv || ' ' || labels), lower(wanted.value)) AND "
    "NOT EXISTS (SELECT 1 FROM run_case JOIN case_identity USING (case_key) "
    "WHERE run = run.id AND instr(lower(label), lower(wanted.value)))) AND "
    "(?6 = '' OR EXISTS (SELECT 1 FROM run_case WHERE run = run.id AND "
    "instr(lower(json_extract(document, '$.model.ref')), lower(?6)))) AND "
    "(?8 = '' OR EXISTS (SELECT 1 FROM run_case WHERE run = run.id AND run_case.engine_build IN "
    "(?8, (SELECT reference FROM engine_build WHERE id = ?8)))) AND "
    "(?9 = '' OR EXISTS (SELECT 1 FROM run_case JOIN engine_build ON "
    "run_case.engine_build = engine_build.reference WHERE run = run.id AND revision = ?9)) "
    "ORDER BY order_ns DESC, run.id DESC LIMIT ?4";

// Lengths of texts in bytes; NULL adds nothing.
constexpr std::string_view kBytesOfLaunches =
    "SELECT total(length(CAST(conditions_before AS BLOB)) + length(CAST(conditions_after AS BLOB)) "
    "+ length(CAST(process_end AS BLOB)) + coalesce(length(CAST(load AS BLOB)), 0) + "
    "coalesce(length(CAST(measurement AS BLOB)), 0) + coalesce(length(CAST(memory AS BLOB)), 0) + "
    "coalesce(length(CAST(profile AS BLOB)), 0)) FROM launch "
    "WHERE attempt IN (SELECT id FROM attempt WHERE run = ?1)";
constexpr std::string_view kBytesOfSamples =
    "SELECT total(length(bytes)) FROM sample_block WHERE launch IN (SELECT launch.id FROM launch "
    "JOIN attempt ON attempt.id = launch.attempt WHERE attempt.run = ?1)";
constexpr std::string_view kBytesOfAttachments =
    "SELECT total(length(bytes)) FROM attachment WHERE owner = ?1 OR owner IN "
    "(SELECT id FROM attempt WHERE run = ?1)";

template <class... Values>
Result<std::int64_t> number(Connection& connection, std::string_view sql, const Values&... values) {
  return get_one(
      connection.prepare(sql, values...),
      [](Statement& row) { return Result<std::int64_t>(row.integer(0)); }, "no row");
}

Result<std::vector<std::string>> texts(Connection& connection, std::string_view sql,
                                       const std::string& run) {
  return collect(connection.prepare(sql, run),
                 [](Statement& row) { return Result<std::string>(row.text(0)); });
}

Status count_attempts(Connection& connection, RunListing& listing) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto counts,
      collect(connection.prepare("SELECT is_finished, outcome, count(*) FROM attempt "
                                 "WHERE run = ? GROUP BY is_finished, outcome",
                                 listing.run.id),
              [](Statement& row) -> Result<std::pair<bool, std::pair<Outcome, int>>> {
                ASSAY_ASSIGN_OR_RETURN(const auto outcome, enum_from_text<Outcome>(row.text(1)));
                return std::pair(row.integer(0) != 0,
                                 std::pair(outcome, static_cast<int>(row.integer(2))));
              }));
  for (const auto& [is_finished, count] : counts) {
    (is_finished ? listing.outcomes[count.first] : listing.unfinished_attempts) += count.second;
  }
  return {};
}

Status read_details(Connection& connection, RunListing& listing) {
  const auto& run = listing.run.id;
  ASSAY_ASSIGN_OR_RETURN(
      listing.models,
      texts(connection,
            "SELECT json_extract(document, '$.model.ref') AS name FROM run_case WHERE run = ? AND "
            "name <> '' GROUP BY name ORDER BY min(rowid)",
            run));
  ASSAY_ASSIGN_OR_RETURN(
      listing.recipes,
      texts(connection,
            "SELECT json_extract(document, '$.recipe.name') AS name FROM run_case WHERE run = ? "
            "AND name <> '' GROUP BY name ORDER BY min(rowid)",
            run));
  ASSAY_RETURN_IF_ERROR(count_attempts(connection, listing));
  ASSAY_ASSIGN_OR_RETURN(
      listing.comparisons,
      collect(
          connection.prepare("SELECT verdict FROM comparison WHERE run = ? ORDER BY rowid", run),
          [](Statement& row) { return enum_from_text<ComparisonVerdict>(row.text(0)); }));
  for (const auto sql : {kBytesOfLaunches, kBytesOfSamples, kBytesOfAttachments}) {
    ASSAY_ASSIGN_OR_RETURN(const auto bytes, number(connection, sql, run));
    listing.bytes += bytes;
  }
  return {};
}

// Tables that a run owns, in the order of removal: a row before those that it refers to.
constexpr auto kOwnedRows = std::to_array<std::string_view>({
    "DELETE FROM attachment WHERE owner = ?1 OR owner IN (SELECT id FROM attempt WHERE run = ?1) "
    "OR owner IN (SELECT id FROM comparison WHERE run = ?1) OR owner IN (SELECT launch.id FROM "
    "launch JOIN attempt ON attempt.id = launch.attempt WHERE attempt.run = ?1)",
    "DELETE FROM sample_block WHERE launch IN (SELECT launch.id FROM launch JOIN attempt ON "
    "attempt.id = launch.attempt WHERE attempt.run = ?1)",
    "DELETE FROM op_event WHERE launch IN (SELECT launch.id FROM launch JOIN attempt ON "
    "attempt.id = launch.attempt WHERE attempt.run = ?1)",
    "DELETE FROM trace WHERE launch IN (SELECT launch.id FROM launch JOIN attempt ON "
    "attempt.id = launch.attempt WHERE attempt.run = ?1)",
    "DELETE FROM launch WHERE attempt IN (SELECT id FROM attempt WHERE run = ?1)",
    "DELETE FROM metric WHERE attempt IN (SELECT id FROM attempt WHERE run = ?1)",
    "DELETE FROM attempt WHERE run = ?1",
    "DELETE FROM comparison WHERE run = ?1",
    "DELETE FROM point WHERE run = ?1",
    "DELETE FROM run_case WHERE run = ?1",
    "DELETE FROM run_device WHERE run = ?1",
    "DELETE FROM run WHERE id = ?1",
});

// Rows that runs share, removed once none refers to them.
constexpr auto kUnusedRows = std::to_array<std::string_view>({
    "DELETE FROM subject WHERE NOT EXISTS (SELECT 1 FROM attempt WHERE subject = subject_key)",
    "DELETE FROM artifact WHERE NOT EXISTS (SELECT 1 FROM attempt WHERE artifact = artifact.id)",
    "DELETE FROM case_identity WHERE NOT EXISTS (SELECT 1 FROM run_case WHERE "
    "run_case.case_key = case_identity.case_key) AND NOT EXISTS (SELECT 1 FROM attempt WHERE "
    "attempt.case_key = case_identity.case_key)",
    "DELETE FROM input_set WHERE digest NOT IN (SELECT input_set FROM run_case UNION "
    "SELECT calibration_set FROM run_case)",
    "DELETE FROM environment_record WHERE environment_key NOT IN "
    "(SELECT environment_key FROM run WHERE environment_key IS NOT NULL UNION "
    "SELECT environment_key FROM run_device)",
    "DELETE FROM environment WHERE NOT EXISTS (SELECT 1 FROM run WHERE environment = "
    "environment.id) AND NOT EXISTS (SELECT 1 FROM attachment WHERE owner = environment.id) AND "
    "NOT EXISTS (SELECT 1 FROM environment_record WHERE environment = environment.id)",
});

Status check_run(Connection& connection, std::string_view run) {
  ASSAY_ASSIGN_OR_RETURN(const auto count,
                         number(connection, "SELECT count(*) FROM run WHERE id = ?", run));
  return count == 0 ? fail(ErrorCode::kNotFound, fmt::format("no run '{}' in the store", run))
                    : Status();
}

Result<std::int64_t> size_in_bytes(Connection& connection) {
  ASSAY_ASSIGN_OR_RETURN(const auto pages, connection.get_integer("PRAGMA page_count"));
  ASSAY_ASSIGN_OR_RETURN(const auto page_bytes, connection.get_integer("PRAGMA page_size"));
  return pages * page_bytes;
}

}  // namespace

Result<std::vector<RunListing>> SqliteResultStore::list_runs(const RunFilter& filter) {
  const auto sql = fmt::format(
      "SELECT {}, (SELECT count(*) FROM run_case WHERE run = run.id), (SELECT count(*) FROM launch "
      "JOIN attempt ON attempt.id = launch.attempt WHERE attempt.run = run.id) FROM run {}",
      kRunColumns, kWantedRuns);
  ASSAY_ASSIGN_OR_RETURN(
      auto listings,
      collect(connection_.prepare(sql, filter.purpose, text_from_record(filter.labels),
                                  text_from_record(filter.texts), filter.limit, filter.made_by,
                                  filter.model, filter.id, filter.engine_build, filter.revision),
              [](Statement& row) -> Result<RunListing> {
                ASSAY_ASSIGN_OR_RETURN(auto run, read_run(row));
                return RunListing{.run = std::move(run),
                                  .cases = static_cast<int>(row.integer(kRunColumnCount)),
                                  .launches = static_cast<int>(row.integer(kRunColumnCount + 1))};
              }));
  for (auto& listing : listings) {
    ASSAY_RETURN_IF_ERROR(read_details(connection_, listing));
    ASSAY_ASSIGN_OR_RETURN(listing.is_in_use, is_claimed_elsewhere(listing.run.id));
  }
  return listings;
}

Status SqliteResultStore::tag_run(std::string_view run_id,
                                  const std::map<std::string, std::string>& labels,
                                  std::span<const std::string> removed) {
  return in_transaction(connection_, [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(auto known,
                           get_one(
                               connection_.prepare("SELECT labels FROM run WHERE id = ?", run_id),
                               [](Statement& row) {
                                 return record_from_text<std::map<std::string, std::string>>(
                                     row.text(0), "labels");
                               },
                               fmt::format("no run '{}' in the store", run_id)));
    for (const auto& [name, value] : labels) {
      known[name] = value;
    }
    for (const auto& name : removed) {
      known.erase(name);
    }
    return connection_.run("UPDATE run SET labels = ? WHERE id = ?", text_from_record(known),
                           run_id);
  });
}

Result<Claims*> SqliteResultStore::claims() {
  if (!claims_ && !claims_file_.empty()) {
    auto opened = access_ == StoreAccess::kRead ? Claims::open_existing(claims_file_)
                                                : Claims::open(claims_file_);
    if (!opened && opened.error().code == ErrorCode::kNotFound) {
      return nullptr;
    }
    ASSAY_ASSIGN_OR_RETURN(claims_, std::move(opened));
  }
  return claims_ ? &*claims_ : nullptr;
}

Result<bool> SqliteResultStore::is_claimed_elsewhere(std::string_view run_id) {
  ASSAY_ASSIGN_OR_RETURN(const auto* all, claims());
  return all == nullptr ? Result<bool>(false) : all->is_claimed_elsewhere(run_id);
}

Status SqliteResultStore::claim_run(std::string_view run_id) {
  ASSAY_ASSIGN_OR_RETURN(auto* all, claims());
  return all == nullptr ? Status() : all->share(run_id);
}

Status SqliteResultStore::remove_run(std::string_view run_id) {
  ASSAY_ASSIGN_OR_RETURN(auto* all, claims());
  if (all != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours, all->try_take(run_id));
    if (!is_ours) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("run {} is in use: another process measures or reads it; wait until "
                              "that ends, or end it",
                              run_id));
    }
  }
  auto status = remove_rows(run_id);
  return all == nullptr || !status ? status : all->release(run_id);
}

Status SqliteResultStore::remove_rows(std::string_view run_id) {
  return in_transaction(connection_, [&]() -> Status {
    ASSAY_RETURN_IF_ERROR(check_run(connection_, run_id));
    for (const auto sql : kOwnedRows) {
      ASSAY_RETURN_IF_ERROR(connection_.run(sql, run_id));
    }
    for (const auto sql : kUnusedRows) {
      ASSAY_RETURN_IF_ERROR(connection_.run(sql));
    }
    return {};
  });
}

Result<std::int64_t> SqliteResultStore::vacuum() {
  ASSAY_ASSIGN_OR_RETURN(auto* all, claims());
  if (all != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours, all->try_take_all());
    if (!is_ours) {
      return fail(ErrorCode::kUnavailable, "another process works on a run of this store");
    }
  }
  auto freed = vacuum_file();
  if (all != nullptr) {
    ASSAY_RETURN_IF_ERROR(all->release_all());
  }
  return freed;
}

Result<std::int64_t> SqliteResultStore::vacuum_file() {
  ASSAY_ASSIGN_OR_RETURN(const auto before, size_in_bytes(connection_));
  ASSAY_RETURN_IF_ERROR(connection_.run("VACUUM"));
  ASSAY_RETURN_IF_ERROR(connection_.run("PRAGMA wal_checkpoint(TRUNCATE)"));
  ASSAY_ASSIGN_OR_RETURN(const auto after, size_in_bytes(connection_));
  return before - after;
}

}  // namespace sqlite
}  // namespace assay
