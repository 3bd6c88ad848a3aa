#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "assay/record/conformance.h"

namespace assay {

/// Failures of one operator, with one recipe, engine and options, that `--check same` takes for the
/// same one. Of a run that stays as it is while the group is used.
struct FailureGroup {
  const ConformResult* smallest = nullptr;  ///< The case to be reduced.
  std::size_t cases = 1;                    ///< Results that are alike, this one included.
};

/// How large the case of that name is, as `size_of` says; empty: there is none.
using SizeOfCase = std::function<std::vector<double>(const std::string& name)>;

/// The failures of a report that the backend is to blame for and that no list calls unsupported, in
/// the order of the report; of each group the smallest case that `size_of_case` knows.
std::vector<FailureGroup> group_failures(const ConformReport& report,
                                         const SizeOfCase& size_of_case);

}  // namespace assay
