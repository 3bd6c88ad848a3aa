#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/conform/conform_case.h"
#include "assay/record/conformance.h"

namespace assay {

/// Which cases an entry means: all that is given here must match.
struct GapPattern {
  std::string case_name;      ///< Pattern of names; empty: any.
  std::string operator_name;  ///< Pattern of operators; empty: any.
  std::string dtype;          ///< Pattern of dtypes; empty: any.
  std::string shape_class;    ///< Likewise,
  std::string values;         ///< likewise.
};

/// What a backend does not do, for good: a declared refusal, or an error where it cannot be made,
/// loaded or run. A wrong number or a dead process is never excused by it.
struct UnsupportedGap {
  GapPattern match;
  std::string reason;
};

/// A failure that is known, with the verdict that it has.
struct KnownFailure {
  std::string case_name;
  ConformVerdict verdict = ConformVerdict::kFailNumeric;
  std::string reason;
  std::string issue;
};

/// Error bounds that a backend may exceed, by a factor, for a reason.
struct LooserBound {
  GapPattern match;
  double error_bound_ratio = 1;
  std::string reason;
};

/// The known gaps of one recipe (schema assay/known_gaps/1, docs/conformance.md).
struct KnownGaps {
  std::string recipe;
  std::vector<UnsupportedGap> unsupported;
  std::vector<KnownFailure> known_failures;
  std::vector<LooserBound> looser;
};

/// "executorch-xnnpack-fp32.json" for "executorch/xnnpack-fp32".
std::string known_gaps_file_name(std::string_view recipe);

/// Reads and checks the file of a recipe; empty lists where there is none. Errors: kInvalidArgument
/// naming the place, with did-you-mean for an unknown key, dtype or verdict.
Result<KnownGaps> read_known_gaps(const std::filesystem::path& folder, const std::string& recipe);

/// The same from a document. `origin` opens messages.
Result<KnownGaps> known_gaps_from_json(const Json& document, std::string_view origin);

/// What the patterns look at.
struct CaseTraits {
  std::string_view name;
  std::string_view operator_name;
  std::string_view dtype;
  std::string_view shape_class;
  std::string_view values;
};
CaseTraits traits_of(const ConformCase& one);
CaseTraits traits_of(const ConformResult& result);

bool is_match(const GapPattern& pattern, const CaseTraits& traits);

/// Whether the lists mention a case at all: such a case gets a program of its own.
bool is_listed(const KnownGaps& gaps, const ConformCase& one);

/// Whether a verdict is one that the lists name for the case.
bool is_as_listed(const KnownGaps& gaps, const ConformCase& one, ConformVerdict verdict);

/// By what factor a case may exceed its error bounds, and why; absent: by none.
std::optional<LooserBound> find_looser(const KnownGaps& gaps, const ConformCase& one);

/// Says of each result of this recipe whether it is known. A known failure must fail with the
/// verdict that is listed, with one of its sets of options at least; a case that an `unsupported`
/// pattern means may pass.
void apply_known_gaps(const KnownGaps& gaps, std::vector<ConformResult>& results);

/// Patterns of `unsupported` for which cases were run and all passed, and known failures that
/// passed.
std::vector<StaleGap> find_stale_gaps(const KnownGaps& gaps,
                                      const std::vector<ConformResult>& results);

/// The lists as this run found things: what passes is struck off, what fails unlisted is added with
/// its text as the reason, to be edited by people, and a verdict that changed is changed. What was
/// not run stays. Verdicts that the backend is not to blame for are never added.
KnownGaps updated_gaps(const KnownGaps& gaps, const std::vector<ConformResult>& results);

Json document_from_known_gaps(const KnownGaps& gaps);

/// Writes the lists, an entry a line, in a stable order. Errors: kUnavailable.
Status write_known_gaps(const std::filesystem::path& folder, const KnownGaps& gaps);

}  // namespace assay
