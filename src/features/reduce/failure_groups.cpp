#include "features/reduce/failure_groups.h"

#include "features/reduce/check.h"
#include "features/reduce/finding.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "assay/record/conformance.h"

namespace assay {
namespace {

ReduceFinding finding_of(const ConformResult& result) {
  return {.verdict = result.verdict, .stage = result.stage, .reason_code = {}, .text = result.text};
}

bool is_to_be_reduced(const ConformResult& result) {
  return is_fault_of_backend(result.verdict) && result.verdict != ConformVerdict::kFailDelegation &&
         result.known != KnownGap::kUnsupported;
}

auto subject_of(const ConformResult& result) {
  return std::tie(result.recipe, result.engine, result.options, result.operator_name);
}

bool is_alike(const ConformResult& a, const ConformResult& b) {
  return subject_of(a) == subject_of(b) && fails({}, finding_of(a), finding_of(b));
}

/// A case that nobody knows is larger than any other.
bool is_smaller(const ConformResult& a, const ConformResult& b, const SizeOfCase& size_of_case) {
  const auto size = size_of_case(a.name);
  const auto other = size_of_case(b.name);
  return !size.empty() && (other.empty() || size < other);
}

}  // namespace

std::vector<FailureGroup> group_failures(const ConformReport& report,
                                         const SizeOfCase& size_of_case) {
  std::vector<FailureGroup> groups;
  for (const auto& result : report.results) {
    if (!is_to_be_reduced(result)) {
      continue;
    }
    const auto group = std::ranges::find_if(
        groups, [&result](const FailureGroup& one) { return is_alike(*one.smallest, result); });
    if (group == groups.end()) {
      groups.push_back({.smallest = &result});
      continue;
    }
    ++group->cases;
    if (is_smaller(result, *group->smallest, size_of_case)) {
      group->smallest = &result;
    }
  }
  return groups;
}

}  // namespace assay
