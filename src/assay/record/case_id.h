#pragma once

#include <compare>
#include <string>

#include "assay/record/case.h"

namespace assay {

/// One case as a run executes it: the key, and what the key leaves out. Two cases of one run are
/// the same where these are equal.
struct CaseId {
  std::string case_key;
  std::string engine_build;  ///< "executorch@1.5.1"
  std::string device;

  auto operator<=>(const CaseId&) const = default;
};

/// Digests the case: keep the result where it is needed often.
CaseId case_id_from(const Case& cell);

}  // namespace assay
