#include "features/site/operator_counts.h"

#include "features/site/index_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/record/conformance.h"

namespace assay::site {
namespace {

void count_verdict(ConformVerdict verdict, OperatorCount& count) {
  using enum ConformVerdict;
  if (verdict == kNotRun) {
    return;
  }
  ++count.judged;
  switch (verdict) {
    case kPass:
      ++count.passed;
      break;
    case kUnsupported:
      ++count.refused;
      break;
    case kFailNumeric:
    case kFailNondeterministic:
      ++count.wrong;
      break;
    case kCrashed:
    case kTimedOut:
    case kOutOfMemory:
      ++count.died;
      break;
    case kAotError:
    case kLoadError:
    case kRunError:
      ++count.failed;
      break;
    default:
      ++count.other;
  }
}

}  // namespace

std::map<std::string, OperatorCount> counts_by_operator(const ConformRow& row) {
  std::map<std::string, OperatorCount> counts;
  for (const auto& [name, word] : row.verdicts) {
    const auto found = row.operators.find(name);
    const auto verdict = find_enum<ConformVerdict>(word).value_or(ConformVerdict::kNotRun);
    count_verdict(verdict, counts[found == row.operators.end() ? name : found->second]);
  }
  return counts;
}

std::string words_of_rest(const OperatorCount& count) {
  std::vector<std::string> words;
  for (const auto& [number, word] :
       {std::pair(count.wrong, "wrong"), std::pair(count.died, "died"),
        std::pair(count.refused, "refused"), std::pair(count.failed, "failed"),
        std::pair(count.other, "undecided")}) {
    if (number > 0) {
      words.push_back(fmt::format("{} {}", number, word));
    }
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace assay::site
