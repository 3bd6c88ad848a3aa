#include "features/conform/known_gaps.h"

#include "features/conform/conform_case.h"
#include "features/conform/gap_pattern.h"
#include "features/conform/glob.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/conformance.h"

namespace assay {
namespace {

/// Verdicts that a pattern may excuse; all others are never excused.
constexpr auto kRefusals = std::to_array({ConformVerdict::kUnsupported, ConformVerdict::kAotError,
                                          ConformVerdict::kLoadError, ConformVerdict::kRunError});

bool is_refusal(ConformVerdict verdict) {
  return std::ranges::find(kRefusals, verdict) != kRefusals.end();
}

/// True if an entry says anything of the processor here.
template <class Entry>
bool is_for_us(const GapContext& context, const Entry& entry) {
  return entry.processor.empty() || std::ranges::find(context.processor_flags, entry.processor) !=
                                        context.processor_flags.end();
}

/// How closely an entry means a case on the processor here; 0: not at all.
int closeness(const KnownFailure& failure, const GapContext& context, std::string_view name) {
  const bool is_itself = failure.case_name == name;
  if (!is_for_us(context, failure) || !(is_itself || is_glob_match(failure.case_name, name))) {
    return 0;
  }
  return !is_itself ? 1 : failure.processor.empty() ? 2 : 3;
}

/// The entry of that name, one of this kind of processor first, or else the first whose pattern
/// means it.
const KnownFailure* find_failure(const KnownGaps& gaps, const GapContext& context,
                                 std::string_view name) {
  const auto of = [&](const KnownFailure& one) { return closeness(one, context, name); };
  const auto found = std::ranges::max_element(gaps.expected_failures, {}, of);
  return found == gaps.expected_failures.end() || of(*found) == 0 ? nullptr : &*found;
}

/// True if a verdict is the one that is listed. What differs between executions may also be wrong
/// in all of them alike.
bool is_listed_verdict(const KnownFailure& failure, ConformVerdict verdict) {
  return failure.verdict == verdict || (failure.verdict == ConformVerdict::kFailNondeterministic &&
                                        verdict == ConformVerdict::kFailNumeric);
}

/// The first entry for this processor that means such a case.
template <class Entry>
const Entry* find_match(const GapContext& context, const std::vector<Entry>& entries,
                        const CaseTraits& traits) {
  const auto found = std::ranges::find_if(entries, [&](const Entry& one) {
    return is_for_us(context, one) && is_match(one.match, traits);
  });
  return found == entries.end() ? nullptr : &*found;
}

/// Finds the permanent entry that excuses such a verdict.
const ExcusedCases* find_excuse(const KnownGaps& gaps, const GapContext& context,
                                const CaseTraits& traits, ConformVerdict verdict) {
  if (verdict == ConformVerdict::kFailDelegation) {
    return find_match(context, gaps.undelegated, traits);
  }
  return is_refusal(verdict) ? find_match(context, gaps.unsupported, traits) : nullptr;
}

/// True if a run without that failure speaks against the entry.
bool is_tried(const GapContext& context, const KnownFailure& failure) {
  return is_for_us(context, failure) && !context.is_drawn &&
         (failure.verdict != ConformVerdict::kFailDelegation || context.is_delegation_required);
}

/// Verdicts of each case over its sets of options.
struct Ran {
  int passed = 0;
  int failed_as_listed = 0;
  int failed = 0;
};

std::map<std::string, Ran> count_by_name(const KnownGaps& gaps, const GapContext& context,
                                         const std::vector<ConformResult>& results) {
  std::map<std::string, Ran> counts;
  for (const auto& result : results) {
    if (result.recipe != gaps.recipe || result.verdict == ConformVerdict::kNotRun) {
      continue;
    }
    auto& ran = counts[result.name];
    const auto* listed = find_failure(gaps, context, result.name);
    ran.passed += result.verdict == ConformVerdict::kPass ? 1 : 0;
    ran.failed += is_failure(result.verdict) ? 1 : 0;
    ran.failed_as_listed += listed != nullptr && is_listed_verdict(*listed, result.verdict) ? 1 : 0;
  }
  return counts;
}

void apply_to(const KnownGaps& gaps, const GapContext& context, bool is_any_failing,
              ConformResult& result) {
  const auto* failure = find_failure(gaps, context, result.name);
  const auto* excuse = find_excuse(gaps, context, traits_of(result), result.verdict);
  if (result.verdict == ConformVerdict::kPass) {
    const bool is_stale = failure != nullptr && !is_any_failing && is_tried(context, *failure);
    result.known = is_stale ? KnownGap::kUnexpectedPass : KnownGap::kNone;
    result.known_reason = is_stale ? failure->reason : "";
  } else if (failure != nullptr && is_listed_verdict(*failure, result.verdict)) {
    result.known = KnownGap::kKnownFailure;
    result.known_reason = failure->reason;
    result.issue = failure->issue;
  } else if (excuse != nullptr) {
    result.known = KnownGap::kUnsupported;
    result.known_reason = excuse->reason;
  } else {
    result.known = KnownGap::kNewFailure;
  }
}

/// A case that an entry means and that passes with all sets of options; empty: there is none.
std::string find_passing(const KnownFailure& failure, const std::map<std::string, Ran>& counts) {
  for (const auto& [name, ran] : counts) {
    if (ran.passed > 0 && ran.failed == 0 && is_glob_match(failure.case_name, name)) {
      return name;
    }
  }
  return "";
}

/// Entries for the cases that still fail when their pattern is removed.
std::vector<KnownFailure> still_failing(const KnownFailure& failure,
                                        const std::map<std::string, Ran>& counts) {
  std::vector<KnownFailure> left;
  for (const auto& [name, ran] : counts) {
    if (ran.failed_as_listed > 0 && is_glob_match(failure.case_name, name)) {
      left.push_back(failure);
      left.back().case_name = name;
    }
  }
  return left;
}

/// Patterns all of whose cases pass.
void add_stale_excuses(const KnownGaps& gaps, const GapContext& context,
                       const std::vector<ExcusedCases>& excuses,
                       const std::vector<ConformResult>& results, std::vector<StaleGap>& stale) {
  for (const auto& excuse : excuses) {
    int passed = 0;
    int failed = 0;
    for (const auto& result : results) {
      if (result.recipe == gaps.recipe && is_match(excuse.match, traits_of(result))) {
        passed += result.verdict == ConformVerdict::kPass ? 1 : 0;
        failed += is_failure(result.verdict) ? 1 : 0;
      }
    }
    if (passed > 0 && failed == 0 && is_for_us(context, excuse)) {
      stale.push_back({.recipe = gaps.recipe,
                       .entry = json_from(excuse.match).dump(),
                       .why = fmt::format("all {} matching cases pass", passed)});
    }
  }
}

/// The first line, with files by their names: folders are of this machine.
std::string one_line(const std::string& text) {
  static const std::regex folders(R"((^|[\s"'(=])(/[^\s/:"']+)+/)");
  // Longer words overflow the stack: the expression goes one call deeper for each character.
  constexpr std::size_t kMostRead = 2000;
  const auto end = std::min(text.find('\n'), kMostRead);
  auto line = std::regex_replace(text.substr(0, end), folders, "$1");
  constexpr std::size_t kMostBytes = 200;
  return line.size() <= kMostBytes ? line : line.substr(0, kMostBytes);
}

}  // namespace

bool is_expected_to_fail(const KnownGaps& gaps, const GapContext& context,
                         const ConformCase& conform_case) {
  return find_failure(gaps, context, conform_case.name) != nullptr ||
         find_match(context, gaps.unsupported, traits_of(conform_case)) != nullptr;
}

bool is_as_listed(const KnownGaps& gaps, const GapContext& context, const ConformCase& conform_case,
                  ConformVerdict verdict) {
  const auto* failure = find_failure(gaps, context, conform_case.name);
  return (failure != nullptr && is_listed_verdict(*failure, verdict)) ||
         find_excuse(gaps, context, traits_of(conform_case), verdict) != nullptr;
}

std::optional<RelaxedBound> find_relaxed_bound(const KnownGaps& gaps, const GapContext& context,
                                               const ConformCase& conform_case) {
  const auto* found = find_match(context, gaps.relaxed_bounds, traits_of(conform_case));
  return found == nullptr ? std::nullopt : std::optional(*found);
}

void apply_known_gaps(const KnownGaps& gaps, const GapContext& context,
                      std::vector<ConformResult>& results) {
  const auto counts = count_by_name(gaps, context, results);
  for (auto& result : results) {
    if (const auto ran = counts.find(result.name); ran != counts.end() &&
                                                   result.recipe == gaps.recipe &&
                                                   result.verdict != ConformVerdict::kNotRun) {
      apply_to(gaps, context, ran->second.failed > 0, result);
    }
  }
}

std::vector<StaleGap> find_stale_gaps(const KnownGaps& gaps, const GapContext& context,
                                      const std::vector<ConformResult>& results) {
  std::vector<StaleGap> stale;
  const auto counts = count_by_name(gaps, context, results);
  for (const auto& failure : gaps.expected_failures) {
    const auto passing = is_tried(context, failure) ? find_passing(failure, counts) : "";
    if (!passing.empty()) {
      const bool is_itself = passing == failure.case_name;
      stale.push_back({.recipe = gaps.recipe,
                       .entry = failure.case_name,
                       .why = is_itself ? "it passes" : passing + " passes"});
    }
  }
  if (context.is_narrowed) {
    return stale;
  }
  add_stale_excuses(gaps, context, gaps.unsupported, results, stale);
  if (context.is_delegation_required) {
    add_stale_excuses(gaps, context, gaps.undelegated, results, stale);
  }
  return stale;
}

KnownGaps updated_gaps(const KnownGaps& gaps, const GapContext& context,
                       const std::vector<ConformResult>& results) {
  auto updated = gaps;
  const auto stale = find_stale_gaps(gaps, context, results);
  const auto is_stale = [&](const std::string& entry) {
    return std::ranges::find(stale, entry, &StaleGap::entry) != stale.end();
  };
  const auto counts = count_by_name(gaps, context, results);
  const auto is_to_go = [&](const KnownFailure& one) {
    return is_tried(context, one) && is_stale(one.case_name);
  };
  std::erase_if(updated.expected_failures, is_to_go);
  for (const auto& failure : gaps.expected_failures) {
    if (is_to_go(failure)) {
      const auto left = still_failing(failure, counts);
      updated.expected_failures.insert(updated.expected_failures.end(), left.begin(), left.end());
    }
  }
  for (auto* excuses : {&updated.unsupported, &updated.undelegated}) {
    std::erase_if(*excuses, [&](const ExcusedCases& one) {
      return is_for_us(context, one) && is_stale(json_from(one.match).dump());
    });
  }
  for (const auto& result : results) {
    const bool is_ours = result.recipe == gaps.recipe && result.known == KnownGap::kNewFailure;
    const bool is_listable =
        is_fault_of_backend(result.verdict) || result.verdict == ConformVerdict::kUnsupported;
    if (!is_ours || !is_listable) {
      continue;
    }
    const auto known =
        std::ranges::find_if(updated.expected_failures, [&](const KnownFailure& one) {
          return one.case_name == result.name && is_for_us(context, one);
        });
    if (known != updated.expected_failures.end()) {
      known->verdict = result.verdict;
    } else {
      updated.expected_failures.push_back(
          {.case_name = result.name,
           .verdict = result.verdict,
           .reason =
               one_line(result.text.empty() ? std::string("not looked into yet") : result.text),
           .issue = {}});
    }
  }
  std::ranges::sort(updated.expected_failures, {}, &KnownFailure::case_name);
  return updated;
}

}  // namespace assay
