#pragma once

#include "features/reduce/candidate_evaluator.h"
#include "features/reduce/check.h"
#include "features/reduce/reducer.h"

#include <filesystem>
#include <optional>
#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// A reduction and what it was asked for.
struct ReductionReport {
  std::string name;  ///< Name of the case, as given by the user.
  std::string check;
  Reduction reduction;
  /// True if the smallest failed alike when it was judged once more; absent: it was not.
  std::optional<bool> is_confirmed;
  std::string command;    ///< Repeats the smallest alone.
  std::string script;     ///< Status of repro.py; empty: no bundle was requested.
  bool is_shown = false;  ///< repro.py shows the failure.
};

/// A document as people read it; what is not UTF-8 is replaced.
std::string text_of_document(const Json& document);

/// Schema assay/reduction/1 of docs/guide/reduce.md.
Json document_of(const ReductionReport& report, const Case& pattern);

/// The command that judges a candidate again, alone.
std::string command_of(const CandidateEvaluator& evaluator, const ReduceCandidate& candidate);

/// The reduction for people: what failed, each step in a line, the smallest, the closest that is
/// right.
std::string text_of_reduction(const ReductionReport& report, const Case& pattern);

/// Writes everything that shows the smallest case to somebody else: its program, where one could be
/// made, inputs and expected outputs, repro.py, reproduce.json and README.md. The script is run
/// once; what it said is kept in `report`. Errors: kUnavailable when the folder cannot be written;
/// those of the toolchain.
Status write_reduction_bundle(const std::filesystem::path& folder,
                              const CandidateEvaluator& evaluator, ReductionReport& report);

}  // namespace assay
