#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "assay/base/result.h"
#include "assay/record/repository.h"

namespace assay::watch {

/// The revision that every other one is measured with, in turn.
struct ReferencePolicy {
  enum class Kind { kPinned, kWeek, kParent, kNone };
  Kind kind = Kind::kWeek;
  std::string pinned;  ///< Whole hash.
};

/// Reads "pinned:HASH", "week", "parent" or "none". Errors: kInvalidArgument.
Result<ReferencePolicy> reference_policy_from_text(const std::string& text);

/// Index of the reference of revisions[index]; nullopt: it has none. `revisions`: by position.
/// `unusable`: hashes of revisions that cannot be measured.
///
/// kWeek: the first revision of the week (Monday, 00:00 UTC) by the time of commit; the first one
/// of a week itself is measured together with that of an earlier week, so that the weeks join.
/// kParent: the revision before. A revision that is unusable is replaced by the next one of its
/// week or by the one before the parent.
std::optional<std::size_t> find_reference(const ReferencePolicy& policy,
                                          std::span<const Revision> revisions,
                                          const std::set<std::string>& unusable, std::size_t index);

}  // namespace assay::watch
