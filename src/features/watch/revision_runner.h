#pragma once

#include "features/watch/run_points.h"

#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"

namespace assay::watch {

/// Two builds of which one case is compared.
struct BuildPair {
  RevisionBuild a;
  RevisionBuild b;
  std::string case_key;
  std::string incident = {};  ///< Incident that the comparison serves; empty: none.
  /// Names one of several comparisons of the pair for the incident.
  std::string attempt = {};
};

/// Builds revisions and runs them. Everything it makes is in the store when it returns. Errors of
/// all functions are what stops the whole: the store, the device, the mirror, a full disk;
/// kTimeout: asked to stop, and what was measured is kept.
class RevisionRunner {
 public:
  RevisionRunner() = default;
  RevisionRunner(const RevisionRunner&) = delete;
  RevisionRunner& operator=(const RevisionRunner&) = delete;
  virtual ~RevisionRunner() = default;

  /// A revision that cannot be built is a result, too.
  virtual Result<RevisionBuild> build(const Revision& revision) = 0;

  /// Measures every case on the sitting's builds, side by side, with `rounds` launches of each. A
  /// run for the same purpose and sitting that was cut off goes on.
  virtual Result<Run> measure(const Sitting& sitting, std::string_view purpose, int rounds) = 0;

  /// Fresh pairs until a look decides, with canary and confirmation. A comparison of the pair that
  /// was cut off goes on; the same attempt for the same incident is not made again. Errors: also
  /// kUnsupported where the spec no longer has the case.
  virtual Result<Comparison> compare(const BuildPair& pair, const ComparisonPlan& plan) = 0;

  /// Which operators account for the difference: {"inference_ns", "operators": [{"name",
  /// "before_ns", "after_ns", "change_ns", "share"}], …}; an empty object where nothing can be
  /// said.
  virtual Result<Json> explain(const BuildPair& pair) = 0;

  /// Which functions account for the difference, in instructions of an inference under callgrind:
  /// {"before", "after", "functions": [{"name", "before", "after", "change", "share"}]}, or
  /// {"unavailable": REASON}.
  virtual Result<Json> count_instructions(const BuildPair& pair) = 0;

  /// Files that the revision changed.
  virtual Result<std::vector<std::string>> changed_files(const Revision& revision) = 0;
};

}  // namespace assay::watch
