#pragma once

#include "features/watch/verify.h"

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"

namespace assay::watch {

/// The effect of a change on one metric of one case.
enum class ChangeVerdict : std::uint8_t {
  kWorse,
  kBetter,
  kSame,       ///< No change that matters.
  kUndecided,  ///< The pairs cannot tell.
};

}  // namespace assay::watch

namespace assay {

template <>
inline constexpr auto kEnumNames<watch::ChangeVerdict> =
    std::to_array<EnumName<watch::ChangeVerdict>>({
        {watch::ChangeVerdict::kWorse, "worse"},
        {watch::ChangeVerdict::kBetter, "better"},
        {watch::ChangeVerdict::kSame, "same"},
        {watch::ChangeVerdict::kUndecided, "undecided"},
    });

}  // namespace assay

namespace assay::watch {

struct ChangeRow {
  std::string label;  ///< Label of the case.
  std::string metric;
  std::string unit;
  double base = 0;
  double head = 0;
  ChangeVerdict verdict = ChangeVerdict::kSame;
  std::string text;        ///< The answer as a sentence.
  std::string comparison;  ///< Id; empty for a metric that repeats exactly.
};

/// A proposed change, as a whole.
struct ChangeCheck {
  Revision base;
  Revision head;
  ChangeVerdict verdict = ChangeVerdict::kSame;
  std::string text;  ///< Why there are no rows: a build that failed, or equal bytes.
  std::vector<ChangeRow> rows;
};

/// Builds both revisions and compares them: the watched metrics of each case by fresh pairs
/// (is_watched_by_pairs), and sizes, delegation and accuracy by one measurement. A case that fails
/// is measured a second time. Worse is: a row that is worse, or a head that does not build while
/// its base does. Where no case has a watched metric, nothing is decided. Errors: those of the
/// runner and of the store; kUnavailable: the base does not build.
Result<ChangeCheck> check_change(const Revision& base, const Revision& head,
                                 const IncidentTools& tools);

}  // namespace assay::watch
