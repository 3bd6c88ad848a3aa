#include "features/site/index_rows.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/report/format.h"

namespace assay::site {
namespace {

constexpr const char* kLocalDevice = "local";  ///< The machine where Assay itself runs.

}  // namespace

ASSAY_DEFINE_JSON(RunRow, id, purpose, verb, name, state, started_unix_ns, finished_unix_ns, cases,
                  launches, labels, models, recipes, engines, devices, device_names, verdicts,
                  has_new_failure, overview, problem)
ASSAY_DEFINE_JSON(CaseRow, run, started_unix_ns, model_ref, device_class, machine, summary)
ASSAY_DEFINE_JSON(ComparisonRow, run, started_unix_ns, comparison)
ASSAY_DEFINE_JSON(ConformSource, run, started_unix_ns, cases)
ASSAY_DEFINE_JSON(ConformRow, run, started_unix_ns, suite, tier, shard, is_whole, recipe, engine,
                  options, device, device_class, counts, verdicts, operators, sources, earlier)
ASSAY_DEFINE_JSON(MachineRow, device, environment)
ASSAY_DEFINE_JSON(FleetRow, run, worker, device, executions, not_counted, last_unix_ns)
ASSAY_DEFINE_JSON(LostRow, run, lost)
ASSAY_DEFINE_JSON(CasePoint, run, started_unix_ns, engine, device, verdict, value, low, high)

std::string machine_key(const MachineRow& machine) {
  return machine.device == kLocalDevice ? machine.environment.id
                                        : machine.device + "\n" + machine.environment.device_class;
}

std::string title_of_device(const std::string& name, const std::string& device_class) {
  return name.empty() || name == kLocalDevice ? device_class
                                              : fmt::format("{} ({})", name, device_class);
}

bool is_step(const RunRow& run) {
  return run.purpose == "watch" || run.purpose == "verify" || run.purpose == "bisect";
}

bool has_failed(const RunRow& run) {
  return !run.problem.empty() || run.state == "stopped" || run.has_new_failure ||
         std::ranges::find(run.verdicts, std::string(name_of(Verdict::kFail)),
                           &std::pair<std::string, int>::first) != run.verdicts.end();
}

std::string title_of_run(const RunRow& run) {
  constexpr std::size_t kMost = 3;
  return report::title_of_run(run.name, report::joined_names(run.models, kMost),
                              report::joined_names(run.recipes, kMost),
                              run.verb.empty() ? run.purpose : run.verb);
}

}  // namespace assay::site
