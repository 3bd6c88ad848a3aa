#pragma once

#include "features/conform/conform_case.h"
#include "features/conform/gap_pattern.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/conformance.h"

namespace assay {

/// Cases that are excused for a reason.
struct ExcusedCases {
  GapPattern match;
  std::string reason;
  std::string processor;  ///< See `KnownFailure`.
};

/// A failure that is known, with the verdict that it has.
struct KnownFailure {
  std::string case_name;  ///< Or a pattern of names, each of which fails so.
  ConformVerdict verdict = ConformVerdict::kFailNumeric;
  std::string reason;
  std::string issue;
  /// The flag of processors on which it fails, such as avx512_bf16; empty: on any.
  std::string processor;
};

/// Error bounds that a backend may exceed, by a factor, for a reason.
struct RelaxedBound {
  GapPattern match;
  double error_bound_ratio = 1;
  std::string reason;
  std::string processor;  ///< See `KnownFailure`.
};

/// The known gaps of one recipe, as its file lists them (docs/guide/conformance.md).
struct KnownGaps {
  std::string recipe;
  /// Cases that a backend permanently does not support: a declared refusal, or an error where it
  /// cannot be made, loaded or run. A wrong number or a dead process is never excused by it.
  std::vector<ExcusedCases> unsupported;
  std::vector<ExcusedCases> undelegated;  ///< Cases that a partitioner never delegates.
  std::vector<KnownFailure> expected_failures;
  std::vector<RelaxedBound> relaxed_bounds;
};

/// Properties of a run that decide how the lists of known gaps apply to it.
struct GapContext {
  /// The run requires delegation; otherwise entries about delegation are ignored.
  bool is_delegation_required = false;
  /// The run leaves out cases of the suite, by tier, name, type or share: all cases of a pattern
  /// may be among those, so that no pattern is stale.
  bool is_narrowed = false;
  /// The cases are drawn at random: they were in no list's mind, so none makes an entry stale.
  bool is_drawn = false;
  /// Flags of the processor here; entries for other processors are ignored.
  std::vector<std::string> processor_flags;
};

/// True if the lists say that a case fails: such a case gets a program of its own.
bool is_expected_to_fail(const KnownGaps& gaps, const GapContext& context,
                         const ConformCase& conform_case);

/// True if a verdict is one that the lists name for the case.
bool is_as_listed(const KnownGaps& gaps, const GapContext& context, const ConformCase& conform_case,
                  ConformVerdict verdict);

/// The factor by which a case may exceed its error bounds, and why; absent: none.
std::optional<RelaxedBound> find_relaxed_bound(const KnownGaps& gaps, const GapContext& context,
                                               const ConformCase& conform_case);

/// Says of each result of this recipe whether it is known. A known failure must fail with the
/// verdict that is listed, with one of its sets of options at least; a case that an `unsupported`
/// pattern means may pass.
void apply_known_gaps(const KnownGaps& gaps, const GapContext& context,
                      std::vector<ConformResult>& results);

/// Patterns of `unsupported` for which cases were run and all passed, unless the run is narrowed,
/// and known failures of which a case passed, unless the cases are drawn.
std::vector<StaleGap> find_stale_gaps(const KnownGaps& gaps, const GapContext& context,
                                      const std::vector<ConformResult>& results);

/// The lists as this run found things: what passes is removed (of a pattern, the cases that fail
/// stay by their names), what fails unlisted is added with its text as the reason, to be edited by
/// people, and a verdict that changed is changed. What was not run stays. Verdicts that the backend
/// is not to blame for are never added.
KnownGaps updated_gaps(const KnownGaps& gaps, const GapContext& context,
                       const std::vector<ConformResult>& results);

}  // namespace assay
