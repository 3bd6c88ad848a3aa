#pragma once

#include "features/site/index_rows.h"
#include "features/site/latest_case.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/sqlite/connection.h"

namespace assay::site {

/// Lists and charts of a store without its samples, in an SQLite file. It holds nothing that
/// cannot be derived again: a file that is damaged, or of another version, is made anew.
/// Thread-safe. Errors of all calls: kUnavailable, kExhausted (disk full), kCorrupt.
class RunIndex {
 public:
  static Result<RunIndex> open(const std::filesystem::path& file);

  /// The stamp under which each run was put.
  Result<std::map<std::string, std::string>> stamps();
  /// Replaces what is known of the run.
  Status put(const RunRows& rows, const std::string& stamp);
  Status remove(const std::string& run);

  Result<std::int64_t> count_runs(const RunChoice& choice = {});
  /// Newest first.
  Result<std::vector<RunRow>> runs(std::int64_t offset, std::int64_t limit,
                                   const RunChoice& choice = {});
  /// Facets by which runs can be chosen, each with at most `most` values of the newest runs.
  Result<std::vector<FacetValue>> facet_values(std::int64_t most);
  /// Those that contain all words in id, name, command, labels, models, recipes or engines, in any
  /// case of their letters; newest first.
  Result<std::vector<RunRow>> search_runs(const std::vector<std::string>& words,
                                          std::int64_t offset, std::int64_t limit);
  /// The number of runs that contain all words.
  Result<std::int64_t> count_found_runs(const std::vector<std::string>& words);
  Result<std::optional<RunRow>> find_run(const std::string& run);

  /// Returned in the order of its report.
  Result<std::vector<CaseRow>> cases_of_run(const std::string& run);

  /// The last measured first.
  Result<std::vector<ModelUse>> models();
  /// Reads an entry of each model, and no result.
  Result<std::vector<std::string>> model_refs();
  /// Reads the results of one model alone. Errors: also kNotFound.
  Result<ModelUse> model_use(const std::string& ref);
  /// Each case of a model on each device with each engine build, with the newest value of each
  /// quantity; the last measured first.
  Result<std::vector<LatestCase>> newest_of_model(const std::string& ref, std::int64_t limit);
  /// The newest result of each case whose label contains all words.
  Result<std::vector<CaseRow>> search_cases(const std::vector<std::string>& words,
                                            std::int64_t limit);

  /// Results of a case, newest first.
  Result<std::vector<CaseRow>> results_of_case(const std::string& key, std::int64_t limit);
  /// Its times, oldest first; the newest `limit`.
  Result<std::vector<CasePoint>> points_of_case(const std::string& key, std::int64_t limit);

  Result<std::int64_t> count_comparisons();
  /// Newest first.
  Result<std::vector<ComparisonRow>> comparisons(std::int64_t offset, std::int64_t limit);
  /// The run that made a comparison; empty if the index has none.
  Result<std::string> run_of_comparison(const std::string& comparison);

  /// Each suite, recipe, engine build, options and device, with the newest verdict of each case;
  /// the last tried first.
  Result<std::vector<ConformRow>> newest_conformance(std::int64_t limit);

  /// Work of the workers of fleets, of the newest runs first.
  Result<std::vector<FleetRow>> fleet_rows(std::int64_t limit);
  /// The last one to work first.
  Result<std::vector<WorkerUse>> worker_uses();
  /// Executions that were lost, of the newest runs first.
  Result<std::vector<LostRow>> lost_rows(std::int64_t limit);
  /// The number of launches that were lost, by device.
  Result<std::map<std::string, int>> count_lost();

  /// The last used first.
  Result<std::vector<MachineUse>> machines();
  /// Runs that were made on it, newest first.
  Result<std::vector<RunRow>> runs_of_machine(const MachineRow& machine, std::int64_t limit);

 private:
  explicit RunIndex(sqlite::Connection connection) : connection_(std::move(connection)) {}
  Status put_rows(const RunRows& rows, const std::string& stamp);
  Status put_cases(const RunRows& rows);
  Status put_fleet(const RunRows& rows);
  /// The run in which a quantity of a case has its newest value.
  struct LatestPlace {
    std::string model_ref;
    std::string case_key;
    std::string engine;
    std::string machine;
    std::string quantity;
  };
  /// Takes the quantities of a row as the newest, where they are.
  Status add_latest(const CaseRow& row, std::int64_t n);
  /// Removes the run from the newest values; what lacks one then.
  Result<std::vector<LatestPlace>> forget_latest(const std::string& run);
  /// Finds the newest value of each place among the rows that are there.
  Status find_latest(const std::vector<LatestPlace>& places);
  Result<ConformRow> newest_of_setting(const std::string& setting);
  Status remove_rows(const std::string& run);

  sqlite::Connection connection_;
};

}  // namespace assay::site
