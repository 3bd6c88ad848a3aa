#include "features/site/derive_rows.h"

#include "features/conform/conform.h"
#include "features/conform/conform_options.h"
#include "features/site/index_rows.h"

#include <algorithm>
#include <exception>
#include <expected>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/conformance.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/runs/run_overview.h"
#include "assay/store/lost_executions.h"
#include "assay/store/result_store.h"
#include "assay/store/stored_conformance.h"
#include "assay/summary/summarize.h"

namespace assay::site {
namespace {

constexpr const char* kLocal = "local";  ///< The machine where Assay itself runs.

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::ranges::find(names, name) == names.end()) {
    names.push_back(name);
  }
}

RunRow row_from_listing(const RunListing& listing) {
  const auto& run = listing.run;
  return {.id = run.id,
          .purpose = run.purpose,
          .verb = listing.verb(),
          .name = run.name,
          .state = state_of(listing),
          .started_unix_ns = run.started_unix_ns,
          .finished_unix_ns = run.finished_unix_ns,
          .cases = listing.cases,
          .launches = listing.launches,
          .labels = run.labels};
}

/// Keeps what lists, charts and trade-offs need.
CaseSummary without_samples(CaseSummary summary) {
  summary.launches.clear();
  summary.leaks.clear();
  summary.memory.reset();
  summary.profile.reset();
  summary.breakdown.reset();
  summary.instructions.reset();
  summary.attribution.reset();
  summary.manifest = nullptr;
  summary.effective_options = nullptr;
  summary.reproduce.clear();
  summary.last_words.clear();
  return summary;
}

CaseRow row_from_case(const RunRow& run, const CaseSummary& summary,
                      const Environment& environment) {
  CaseRow row{.run = run.id, .started_unix_ns = run.started_unix_ns, .summary = {}};
  row.summary = without_samples(summary);
  const auto& identity = summary.identity;
  if (identity.is_object()) {
    row.device_class = identity.value("device_class", "");
    row.model_ref = identity.value("model", Json::object()).value("ref", "");
  }
  row.machine = machine_key({.device = summary.device, .environment = environment});
  if (row.model_ref.empty()) {
    row.model_ref = summary.model;
  }
  return row;
}

/// "w1" of a worker that is called "w1:4711".
std::string name_of_worker(const std::string& worker) { return worker.substr(0, worker.find(':')); }

/// The devices that a run was made on: by name, and the workers of a fleet on their own machines.
Result<std::vector<std::string>> device_names(ResultStore& store, const std::string& run) {
  std::vector<std::string> names;
  ASSAY_ASSIGN_OR_RETURN(const auto executions, store.executions_of_run(run));
  for (const auto& execution : executions) {
    const bool is_named = !execution.device.empty() && execution.device != kLocal;
    add_once(names, is_named ? execution.device : name_of_worker(execution.worker));
  }
  if (names.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run));
    for (const auto& attempt : attempts) {
      add_once(names, attempt.device);
    }
  }
  return names.empty() ? std::vector<std::string>{kLocal} : names;
}

/// `environments`: by name, of a run on several devices.
Status add_machines(ResultStore& store, const Environment& environment,
                    const std::map<std::string, Environment>& environments, RunRows& rows) {
  ASSAY_ASSIGN_OR_RETURN(rows.run.device_names, device_names(store, rows.run.id));
  for (const auto& name : rows.run.device_names) {
    const auto own = environments.find(name);
    rows.machines.push_back(
        {.device = name, .environment = own == environments.end() ? environment : own->second});
  }
  return {};
}

/// Adds what each worker of a fleet did, and what was lost.
Status add_fleet(ResultStore& store, RunRows& rows) {
  ASSAY_ASSIGN_OR_RETURN(const auto executions, store.executions_of_run(rows.run.id));
  std::map<std::pair<std::string, std::string>, FleetRow> workers;
  for (const auto& execution : executions) {
    const auto worker = name_of_worker(execution.worker);
    auto& row = workers[{worker, execution.device}];
    row.worker = worker;
    row.device = execution.device;
    ++row.executions;
    row.not_counted += execution.is_counted ? 0 : 1;
    row.last_unix_ns =
        std::max({row.last_unix_ns, execution.started_unix_ns, execution.finished_unix_ns});
  }
  for (auto& [key, row] : workers) {
    row.run = rows.run.id;
    rows.workers.push_back(std::move(row));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto lost, lost_executions_of_run(store, rows.run.id));
  for (const auto& one : lost) {
    rows.lost.push_back({.run = rows.run.id, .lost = one});
  }
  return {};
}

Status add_measured(ResultStore& store, const Run& run, RunRows& rows) {
  ASSAY_ASSIGN_OR_RETURN(const auto summary,
                         summarize_run(store, run, {.has_launch_series = false}));
  std::map<Verdict, int> counts;
  for (const auto& cell : summary.cases) {
    const auto own = summary.devices.find(cell.device);
    rows.cases.push_back(row_from_case(
        rows.run, cell, own == summary.devices.end() ? summary.environment : own->second));
    ++counts[cell.verdict];
    add_once(rows.run.models, cell.model);
    add_once(rows.run.recipes, cell.recipe);
    add_once(rows.run.engines, cell.engine);
    add_once(rows.run.devices, rows.cases.back().device_class);
  }
  ASSAY_RETURN_IF_ERROR(add_machines(store, summary.environment, summary.devices, rows));
  std::map<ComparisonVerdict, int> answers;
  for (const auto& one : summary.comparisons) {
    rows.comparisons.push_back(
        {.run = run.id, .started_unix_ns = run.started_unix_ns, .comparison = one.comparison});
    ++answers[one.comparison.verdict];
  }
  for (const auto& [verdict, count] : answers) {
    rows.run.verdicts.emplace_back(name_of(verdict), count);
  }
  for (const auto& [verdict, count] : counts) {
    if (answers.empty() && run.purpose != "calibrate") {
      rows.run.verdicts.emplace_back(name_of(verdict), count);
    }
  }
  return {};
}

/// True if a run was of all cases of its suite and tier, but for what its shard leaves to others.
bool is_of_all_cases(const Run& run) {
  const auto options = run.spec.is_object() ? run.spec.get<ConformOptions>() : ConformOptions();
  return options.match.empty() && options.dtypes.empty() && options.only.empty();
}

Status add_conformance(ResultStore& store, const Run& run, RunRows& rows) {
  const auto found = read_conform_report(store, run);
  if (!found && found.error().code == ErrorCode::kNotFound && run.finished_unix_ns == 0) {
    return {};  // The report is written at the end: nothing is wrong with a run that goes on.
  }
  if (!found) {
    return std::unexpected(found.error());
  }
  const auto& report = *found;
  const std::string not_run(name_of(ConformVerdict::kNotRun));
  std::map<std::tuple<std::string, std::string, std::string>, ConformRow> settings;
  for (const auto& result : report.results) {
    auto& row = settings[{result.recipe, result.engine, result.options}];
    row.recipe = result.recipe;
    row.engine = result.engine;
    row.options = result.options;
    const std::string verdict(name_of(result.verdict));
    ++row.counts[verdict];
    row.verdicts[result.name] = verdict;
    row.operators[result.name] = result.operator_name;
    rows.run.has_new_failure |=
        result.known == KnownGap::kNewFailure && result.verdict != ConformVerdict::kNotRun;
    add_once(rows.run.recipes, result.recipe);
    add_once(rows.run.engines, result.engine);
  }
  add_once(rows.run.devices, report.environment.device_class);
  ASSAY_RETURN_IF_ERROR(add_machines(store, report.environment, {}, rows));
  for (auto& [key, row] : settings) {
    row.run = run.id;
    row.started_unix_ns = run.started_unix_ns;
    row.suite = report.suite;
    row.tier = report.tier;
    row.shard = report.shard;
    row.is_whole = is_of_all_cases(run) && !row.counts.contains(not_run);
    row.device = fmt::format("{}", fmt::join(rows.run.device_names, ", "));
    row.device_class = report.environment.device_class;
    rows.conformance.push_back(std::move(row));
  }
  for (const auto& [verdict, count] : count_verdicts(report, "")) {
    rows.run.verdicts.emplace_back(name_of(verdict), count);
  }
  return {};
}

Status add_results(ResultStore& store, const Run& run, RunRows& rows) {
  try {
    ASSAY_RETURN_IF_ERROR(run.purpose == "conform" ? add_conformance(store, run, rows)
                                                   : add_measured(store, run, rows));
    return add_fleet(store, rows);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("a document of run {} is of another form: {}", run.id, error.what()));
  }
}

}  // namespace

Result<RunRows> derive_rows(ResultStore& store, const RunListing& listing) {
  RunRows rows{.run = row_from_listing(listing)};
  if (const auto status = add_results(store, listing.run, rows); !status) {
    if (status.error().code == ErrorCode::kUnavailable ||
        status.error().code == ErrorCode::kExhausted) {
      return std::unexpected(status.error());
    }
    rows = {.run = row_from_listing(listing)};
    rows.run.problem = status.error().message;
  }
  const std::vector<RunOverview> overviews = {{.listing = listing, .verdicts = rows.run.verdicts}};
  rows.run.overview = document_from_overviews(overviews).at("runs").at(0);
  return rows;
}

}  // namespace assay::site
