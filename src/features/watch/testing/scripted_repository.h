#pragma once

#include "features/repository/repository_spec.h"
#include "features/watch/revision_runner.h"
#include "features/watch/run_points.h"
#include "features/watch/verify.h"
#include "features/watch/watch_view.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/incident.h"
#include "assay/record/metric.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay::watch {

/// Behavior of a revision of a scripted repository when it is built and measured.
struct ScriptedRevision {
  std::map<std::string, double> levels = {};  ///< ln of a case's cost; 0 for those not named.
  std::string bytes = {};                     ///< The bytes of its build; empty: its own.
  bool is_broken = false;                     ///< It cannot be built.
  std::set<std::string> crashing = {};        ///< Cases that crash, always.
  /// The largest error of the outputs of each case, where the tolerance allows 1e-3; absent: they
  /// are not evaluated.
  std::optional<double> error = {};
  bool has_varying_outputs = false;  ///< They differ between executions, as the tolerance allows.
};

/// The metric that scripted launches tell: exp(level + noise), or 1 over it for one that is better
/// when it is higher.
struct ScriptedMetric {
  std::string name = "cost";
  std::string unit = "ns";
  Better better = Better::kLower;
  double noise = 0.002;  ///< Standard deviation of its logarithm.
  double drift = 0;      ///< Growth of the logarithm from launch to launch.

  [[nodiscard]] std::string full_name() const { return std::string(kProgramPrefix) + name; }
};

/// Nanoseconds, of which fewer are better.
inline ScriptedMetric cost_metric() { return {}; }

/// 1 over the cost.
inline ScriptedMetric rate_metric() {
  return {.name = "rate", .unit = "1/s", .better = Better::kHigher};
}

/// A repository whose builds and launches follow a script. It stores runs and launches as a real
/// one does, so that everything that reads them is under test. A commit that changes a level
/// changes the file conv.c and the operator "conv". Deterministic for a seed.
class ScriptedRepository final : public RevisionRunner {
 public:
  ScriptedRepository(std::vector<ScriptedRevision> script, ScriptedMetric metric,
                     std::uint64_t seed = 1, std::vector<std::string> names = {"a"});

  Result<RevisionBuild> build(const Revision& revision) override;
  Result<Run> measure(const Sitting& sitting, std::string_view purpose, int rounds) override;
  Result<Comparison> compare(const BuildPair& pair, const ComparisonPlan& plan) override;
  Result<Json> explain(const BuildPair& pair) override;
  Result<Json> count_instructions(const BuildPair& pair) override;
  Result<std::vector<std::string>> changed_files(const Revision& revision) override;

  /// Measures until nothing is left to do; the error that ended the watcher, or success.
  Status watch();
  /// Confirms that the range from the first to the last revision changed, and finds its culprit.
  Result<Incident> bisect();
  [[nodiscard]] std::vector<Incident> incidents() const;
  [[nodiscard]] WatchView view() const;
  [[nodiscard]] IncidentTools tools();
  [[nodiscard]] std::string key_of_case(const std::string& name) const;

  std::vector<ScriptedRevision> script;
  std::vector<std::string> cases;   ///< Names of the cases that are measured.
  std::vector<Revision> revisions;  ///< "r1", "r2", …, by position.
  RepositorySpec spec;
  BuildEnvironment environment;
  std::unique_ptr<ResultStore> store = make_memory_store();
  std::vector<std::string> calls;  ///< "build r1", "measure r2 beside r1 for watch", …
  /// Called before each call is answered.
  std::function<void(const std::string& call)> on_call = [](const std::string&) {};
  /// True if a launch of a revision ends without the metric.
  std::function<bool(const std::string& revision, int index)> is_lost = [](const std::string&,
                                                                           int) { return false; };
  /// True if a launch of a revision tells 0.
  std::function<bool(const std::string& revision, int index)> is_zero = [](const std::string&,
                                                                           int) { return false; };
  /// True if a case of a revision crashes in this run, in addition to those that always do.
  std::function<bool(const std::string& revision, const std::string& name)> is_flaky =
      [](const std::string&, const std::string&) { return false; };

 private:
  void note(std::string call);
  [[nodiscard]] const ScriptedRevision& script_of(const std::string& hash) const;
  Status add_evaluation(const Run& run, const Case& cell, const ScriptedRevision& one,
                        const std::string& subject);
  double draw_level(const std::string& hash, const std::string& name);
  Status add_case_of_run(const Run& run, const RevisionBuild& build, const std::string& name,
                         int rounds);
  [[nodiscard]] std::int64_t now_unix_ns() { return ++now_unix_ns_; }

  ScriptedMetric metric_;
  std::mt19937_64 random_;
  std::int64_t now_unix_ns_ = 1'800'000'000'000'000'000;
};

}  // namespace assay::watch
