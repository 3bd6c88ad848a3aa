#include "features/watch/watch_reasons.h"

#include "features/watch/watch_text.h"
#include "features/watch/watch_view.h"

#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "assay/base/clock.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/report/format.h"

namespace assay::watch {
namespace {

/// Clocks of machines that share a store differ by less.
constexpr std::int64_t kMostClockDifferenceNs = std::int64_t{60} * 1'000'000'000;

struct Failure {
  std::string reason;
  const Revision* newest = nullptr;
  int commits = 0;
};

std::vector<Failure> failures_of(const WatchView& view) {
  std::vector<Failure> failures;
  bool goes_on = false;
  for (const auto& revision : view.revisions) {
    const bool has_failed = view.has_failed(revision.hash);
    if (has_failed) {
      const auto& reason = view.builds.at(revision.hash).reason;
      if (!goes_on || failures.back().reason != reason) {
        failures.push_back({.reason = reason});
      }
      failures.back().newest = &revision;
      ++failures.back().commits;
    }
    goes_on = has_failed;
  }
  return failures;
}

}  // namespace

std::string text_of_reasons(const WatchView& view, std::int64_t now_unix_ns) {
  std::string text;
  for (const auto& [reason, newest, commits] : failures_of(view)) {
    const auto more = commits == 1 ? "" : fmt::format(" and {} before it", commits - 1);
    text += fmt::format("failed       {}{}: {}\n", text_of_revision(*newest), more, reason);
  }
  for (const auto& revision : view.revisions) {
    if (view.pointless.contains(revision.hash)) {
      text +=
          fmt::format("no point     {}: all its cases were skipped\n", text_of_revision(revision));
    }
  }
  if (!view.replaced.empty()) {
    text += fmt::format("replaced     by a forced push: {} with points, which stay in the store\n",
                        report::counted(view.replaced.size(), "commit"));
  }
  if (view.newest_unix_ns > now_unix_ns + kMostClockDifferenceNs) {
    text += fmt::format(
        "clock        it was set back: the newest build or point is of {}, which is to come\n",
        iso8601_from_unix_ns(view.newest_unix_ns));
  }
  return text;
}

std::string reason_of_rest(const Incident& incident, const WatchView& view) {
  const bool has_range =
      incident.kind == IncidentKind::kBrokenBuild || view.range_of(incident).has_value();
  return is_closed(incident.state) || has_range
             ? ""
             : "its commits are no longer on the branch, or older than the horizon";
}

}  // namespace assay::watch
