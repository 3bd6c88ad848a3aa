#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/comparison.h"
#include "assay/record/conformance.h"
#include "assay/record/lost_execution.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"

namespace assay::site {

/// A run as lists show it.
struct RunRow {
  std::string id;
  std::string purpose;
  std::string verb;  ///< "bench"; empty if it was not started from a command line.
  std::string name;
  std::string state;  ///< "finished", "running" or "stopped".
  std::int64_t started_unix_ns = 0;
  std::int64_t finished_unix_ns = 0;
  int cases = 0;
  int launches = 0;
  std::map<std::string, std::string> labels;
  std::vector<std::string> models;  ///< Short names, each once.
  std::vector<std::string> recipes;
  std::vector<std::string> engines;  ///< Name with build.
  std::vector<std::string> devices;  ///< Device classes.
  std::vector<std::string> device_names;
  std::vector<std::pair<std::string, int>> verdicts;
  bool has_new_failure = false;  ///< One of conformance that no list of known gaps has.
  Json overview;                 ///< The row of `assay runs --format json`.
  std::string problem;           ///< Why its rows could not be read; empty: they could.
};

/// A case in one run: what its summary says, without samples, profiles and manifests.
struct CaseRow {
  std::string run;
  std::int64_t started_unix_ns = 0;
  std::string model_ref;  ///< "torchvision:mobilenet_v2"; of a file its short name.
  std::string device_class;
  std::string machine;  ///< machine_key() of the device that it was executed on.
  CaseSummary summary;
};

struct ComparisonRow {
  std::string run;
  std::int64_t started_unix_ns = 0;
  Comparison comparison;
};

/// A run that verdicts are of, and how many.
struct ConformSource {
  std::string run;
  std::int64_t started_unix_ns = 0;
  int cases = 0;
};

/// Verdicts of one recipe with one engine build in one run of conformance, or over several.
struct ConformRow {
  std::string run;
  std::int64_t started_unix_ns = 0;
  std::string suite;
  std::string tier;       ///< "quick", "full", or "fuzz", whose cases are drawn.
  std::string shard;      ///< "1/8"; empty: all.
  bool is_whole = false;  ///< All cases of tier and shard were judged.
  std::string recipe;
  std::string engine;  ///< Name with build.
  std::string options;
  std::string device;  ///< Names of the devices of the run, "local" where there is no other.
  std::string device_class;
  std::map<std::string, int> counts;             ///< Results by verdict.
  std::map<std::string, std::string> verdicts;   ///< Verdict by case.
  std::map<std::string, std::string> operators;  ///< Operator by case.
  std::vector<ConformSource> sources = {};       ///< Sources over several runs, the newest first.
  std::map<std::string, std::string> earlier = {};  ///< Run by case, if it is another than `run`.
};

/// A machine that a run was made on.
struct MachineRow {
  std::string device = "local";  ///< Name of the device in the run.
  Environment environment;
};

/// Work of a worker of a fleet in one run.
struct FleetRow {
  std::string run;
  std::string worker;
  std::string device;
  int executions = 0;
  int not_counted = 0;            ///< Those of jobs of which another execution counts.
  std::int64_t last_unix_ns = 0;  ///< When it began or ended an execution, by its own clock.
};

/// A worker and its device over all runs.
struct WorkerUse {
  std::string worker;
  std::string device;
  int runs = 0;
  int executions = 0;
  int not_counted = 0;
  std::string last_run;
  std::int64_t last_unix_ns = 0;
};

/// An execution of a fleet that came to no end.
struct LostRow {
  std::string run;
  LostExecution lost;
};

/// A device over all runs: of one name and class, and without a name of one machine.
struct MachineUse {
  MachineRow newest;
  int runs = 0;
  int failed_runs = 0;
  std::int64_t first_unix_ns = 0;
  std::int64_t last_unix_ns = 0;
  std::string last_run;
};

/// A model over all runs.
struct ModelUse {
  std::string ref;
  std::string name;  ///< The short one.
  int cases = 0;     ///< Different case keys.
  int results = 0;   ///< These cases in all runs.
  std::int64_t last_unix_ns = 0;
};

/// A timed case in one run, as a chart over time needs it.
struct CasePoint {
  std::string run;
  std::int64_t started_unix_ns = 0;
  std::string engine;
  std::string device;  ///< From title_of_device().
  std::string verdict;
  double value = 0;  ///< steady_ns
  double low = 0;    ///< Ends of its interval; the value if there is none.
  double high = 0;
};

/// Which runs a list shows; an empty text: any.
struct RunChoice {
  std::string verb = {};
  std::string label = {};   ///< "branch=main"
  std::string model = {};   ///< Short name of the model.
  std::string device = {};  ///< Name of the device.
  bool has_steps = true;    ///< With the steps of watches and bisections.
  bool is_failed = false;   ///< Only runs in which something failed or that did not come to an end.
};

/// A value by which runs can be chosen, with how many have it.
struct FacetValue {
  std::string facet;  ///< "verb", "label", "model" or "device"
  std::string value;
  int runs = 0;
};

/// Key of a device: a name in a class, or a machine where it has no name of its own.
std::string machine_key(const MachineRow& machine);
/// "pi5 (linux-aarch64:pi)"; the class alone of a device without a name.
std::string title_of_device(const std::string& name, const std::string& device_class);

/// True if a run is one of many that a watch or a bisection made.
bool is_step(const RunRow& run);
/// True if something failed in it, or it did not come to an end.
bool has_failed(const RunRow& run);
/// The name of a run in lists and at the head of its page: what its spec is called, else its models
/// or recipes, else its verb.
std::string title_of_run(const RunRow& run);

/// All that the index keeps of one run.
struct RunRows {
  RunRow run;
  std::vector<MachineRow> machines;
  std::vector<CaseRow> cases;
  std::vector<ComparisonRow> comparisons;
  std::vector<ConformRow> conformance;
  std::vector<FleetRow> workers;
  std::vector<LostRow> lost;
};

ASSAY_DECLARE_JSON(RunRow);
ASSAY_DECLARE_JSON(CaseRow);
ASSAY_DECLARE_JSON(ComparisonRow);
ASSAY_DECLARE_JSON(ConformSource);
ASSAY_DECLARE_JSON(ConformRow);
ASSAY_DECLARE_JSON(MachineRow);
ASSAY_DECLARE_JSON(FleetRow);
ASSAY_DECLARE_JSON(LostRow);
ASSAY_DECLARE_JSON(CasePoint);

}  // namespace assay::site
