#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/record/summary.h"

namespace assay {

/// One case as a run executes it: the key, and what the key leaves out. Two cases of one run are
/// the same where these are equal, and no number is made of results whose ids differ.
struct CaseId {
  std::string case_key;
  std::string engine_build;  ///< "executorch@1.5.1"
  std::string device;

  auto operator<=>(const CaseId&) const = default;
};

/// Digests the case: keep the result where it is needed often.
CaseId case_id_from(const Case& cell);

CaseId case_id_from(const CaseSummary& summary);

/// `subject`: of the attempt.
CaseId case_id_from(const Attempt& attempt, const Subject& subject);

/// Cases of two runs that are one case before and after. Where both runs have a case on one engine
/// build only, it may be another one; where either has it on several, builds match by their name.
/// Devices are treated alike.
class MatchedIds {
 public:
  MatchedIds(const std::set<CaseId>& a, const std::set<CaseId>& b);

  /// Equal for cases that match, and for no others; leaves out what matches anything.
  [[nodiscard]] CaseId shared(CaseId id) const;

 private:
  std::set<std::string> with_builds_;   ///< Keys of cases that a run has on several builds.
  std::set<std::string> with_devices_;  ///< And on several devices.
};

}  // namespace assay
