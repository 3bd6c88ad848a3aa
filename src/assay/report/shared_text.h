#pragma once

#include <string>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/summary.h"

/// Writes once what many cases of a run have in common.
namespace assay::report {

/// A note with the cases that have it, in the order of their first appearance.
struct SharedNote {
  std::string text;
  std::vector<const CaseSummary*> cases;
};

/// Texts that differ by their numbers only are one where they are many, with ranges for numbers:
/// "3 launches leave their median open by 15 to 77 %".
std::vector<SharedNote> shared_notes(const std::vector<CaseSummary>& cases);

/// Warnings, merged in the same way.
std::vector<SharedNote> shared_warnings(const std::vector<CaseSummary>& cases);

/// Whom a note concerns, briefly: "all cases", the recipes when it is all cases of theirs, one or
/// two cases by name, else "6 of 9 cases".
std::string concerned_by(const SharedNote& note, const std::vector<CaseSummary>& cases);

/// Reason why a case, or several, did not plainly pass.
struct Finding {
  Verdict verdict = Verdict::kFail;
  std::string title;  ///< Label of the case, or as `concerned_by`.
  std::string text;   ///< All its sentences.
};

/// Findings of all cases that did not plainly pass, in order. Many cases whose time alone is no
/// answer are one finding: their intervals stand in the table.
std::vector<Finding> all_findings(const std::vector<CaseSummary>& cases);

}  // namespace assay::report
