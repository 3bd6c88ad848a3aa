#include "features/watch/reference.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/repository.h"

namespace assay::watch {
namespace {

constexpr std::string_view kPinnedPrefix = "pinned:";
constexpr std::int64_t kWeekNs = std::int64_t{7} * 24 * 3600 * 1'000'000'000;
// 1970-01-01 was a Thursday: the week that holds it began three days before.
constexpr std::int64_t kFirstMondayOffsetNs = std::int64_t{3} * 24 * 3600 * 1'000'000'000;

std::int64_t week_of(const Revision& revision) {
  const auto since_monday = revision.committed_unix_ns + kFirstMondayOffsetNs;
  return (since_monday - (((since_monday % kWeekNs) + kWeekNs) % kWeekNs)) / kWeekNs;
}

class Candidates {
 public:
  Candidates(std::span<const Revision> revisions, const std::set<std::string>& unusable)
      : revisions_(revisions), unusable_(unusable) {}

  [[nodiscard]] bool is_usable(std::size_t index) const {
    return !unusable_.contains(revisions_[index].hash);
  }

  [[nodiscard]] std::optional<std::size_t> last_before(std::size_t index) const {
    while (index > 0) {
      if (is_usable(--index)) {
        return index;
      }
    }
    return {};
  }

  /// The first usable revision of the week of revisions[index], at or before it. Clocks of authors
  /// differ, so a week ends at the first revision of an earlier one.
  [[nodiscard]] std::optional<std::size_t> first_of_week(std::size_t index) const {
    const auto week = week_of(revisions_[index]);
    auto first = index;
    while (first > 0 && week_of(revisions_[first - 1]) >= week) {
      --first;
    }
    for (; first <= index; ++first) {
      if (is_usable(first)) {
        return first;
      }
    }
    return {};
  }

 private:
  std::span<const Revision> revisions_;
  const std::set<std::string>& unusable_;
};

std::optional<std::size_t> find_pinned(const std::string& hash, std::span<const Revision> revisions,
                                       std::size_t index) {
  const auto found = std::ranges::find(revisions, hash, &Revision::hash);
  const auto at = static_cast<std::size_t>(found - revisions.begin());
  return found == revisions.end() || at == index ? std::nullopt : std::optional(at);
}

std::optional<std::size_t> find_of_week(const Candidates& candidates, std::size_t index) {
  const auto first = candidates.first_of_week(index);
  if (first && *first != index) {
    return first;
  }
  const auto before = candidates.last_before(index);
  return before ? candidates.first_of_week(*before) : std::nullopt;
}

}  // namespace

Result<ReferencePolicy> reference_policy_from_text(const std::string& text) {
  using Kind = ReferencePolicy::Kind;
  if (text.starts_with(kPinnedPrefix) && text.size() > kPinnedPrefix.size()) {
    return ReferencePolicy{Kind::kPinned, text.substr(kPinnedPrefix.size())};
  }
  if (text == "week") {
    return ReferencePolicy{Kind::kWeek, {}};
  }
  if (text == "parent") {
    return ReferencePolicy{Kind::kParent, {}};
  }
  if (text == "none") {
    return ReferencePolicy{Kind::kNone, {}};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("reference '{}': pinned:REVISION, week, parent or none", text));
}

std::optional<std::size_t> find_reference(const ReferencePolicy& policy,
                                          std::span<const Revision> revisions,
                                          const std::set<std::string>& unusable,
                                          std::size_t index) {
  const Candidates candidates(revisions, unusable);
  switch (policy.kind) {
    case ReferencePolicy::Kind::kPinned:
      return find_pinned(policy.pinned, revisions, index);
    case ReferencePolicy::Kind::kWeek:
      return find_of_week(candidates, index);
    case ReferencePolicy::Kind::kParent:
      return candidates.last_before(index);
    case ReferencePolicy::Kind::kNone:
      return {};
  }
  return {};
}

}  // namespace assay::watch
