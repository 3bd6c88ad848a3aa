#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/attribution.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/profile.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay {

/// All rows of one case in one run, the newest attempt of each pass.
struct CaseRows {
  Case cell;
  std::map<Pass, Attempt> attempts;
  std::map<Pass, std::vector<Launch>> launches;
  std::optional<Artifact> artifact;
  std::vector<AccuracyTable> tables;
  std::vector<std::string> notes;        ///< Notes of its evaluation.
  std::vector<std::string> given_kinds;  ///< References that its outputs are: "engine:NAME".
  bool has_parts = false;                ///< A joint program's parts were judged, each by itself.
  std::optional<Attribution> attribution;
  std::optional<InstructionReport> instructions;
};

/// Tells a pass that is said to have completed, and of which no launch is there.
bool has_lost_launches(const CaseRows& rows, Pass pass);

/// Launches by the id of their attempt.
using AttemptLaunches = std::map<std::string, std::vector<Launch>>;

/// Those of the timing pass, all in memory with their samples. Errors: the store's.
Result<AttemptLaunches> read_timed_launches(ResultStore& store,
                                            const std::vector<Attempt>& attempts);

/// `attempts`: those of the case, attempts_by_case(). `known`: launches that were read before, and
/// are not read again. Errors: the store's.
Result<CaseRows> read_case_rows(ResultStore& store, const Case& cell,
                                const std::vector<Attempt>& attempts, const AttemptLaunches& known);

}  // namespace assay
