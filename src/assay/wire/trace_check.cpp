// The check of the readings of a device over a launch; see answer_check.h.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/device_trace.h"
#include "assay/wire/answer_check.h"
#include "assay/wire/claim.h"

namespace assay::wire {
namespace {

constexpr std::int64_t kMostChannels = 1'000;
constexpr std::int64_t kMostReadings = 10'000'000;
/// An agent reads before it starts a process and after it has ended; a slow sensor takes its time.
constexpr std::int64_t kAroundNs = 60'000'000'000;
/// Readings have the clock that counts suspension, a process's life has not.
constexpr std::int64_t kMostAsleepNs = std::int64_t{7} * 24 * 3600 * 1'000'000'000;
constexpr auto kUnits = std::to_array<std::string_view>({"celsius", "hz", "watts", "joules"});

Status check_columns(const std::string& field, const DeviceTrace& trace) {
  ASSAY_RETURN_IF_ERROR(expect_between(
      field + ".times_ns", static_cast<std::int64_t>(trace.times_ns.size()), 1, kMostReadings));
  return expect_equal(field + ".micros", static_cast<std::int64_t>(trace.micros.size()),
                      static_cast<std::int64_t>(trace.times_ns.size()));
}

Status check_channel(const std::string& field, const DeviceTrace& trace, std::int64_t first_ns,
                     std::int64_t last_ns) {
  ASSAY_RETURN_IF_ERROR(expect_text(field + ".channel", trace.channel));
  if (std::ranges::find(kUnits, trace.unit) == kUnits.end()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}.unit is '{}'; it is one of {}", field, trace.unit.substr(0, 32),
                            fmt::join(kUnits, ", ")));
  }
  ASSAY_RETURN_IF_ERROR(check_columns(field, trace));
  if (!std::ranges::is_sorted(trace.times_ns)) {
    return fail(ErrorCode::kCorrupt, field + ".times_ns goes back in time");
  }
  ASSAY_RETURN_IF_ERROR(
      expect_between(field + ".times_ns", trace.times_ns.front(), first_ns, last_ns));
  return expect_between(field + ".times_ns", trace.times_ns.back(), first_ns, last_ns);
}

}  // namespace

Status check_traces(const LaunchTraces& traces, std::int64_t asked_ns, std::int64_t wall_ns) {
  ASSAY_RETURN_IF_ERROR(expect_between("traces.period_ns", traces.period_ns, asked_ns,
                                       std::numeric_limits<std::int64_t>::max()));
  constexpr auto kMostStart = std::numeric_limits<std::int64_t>::max() / 4;
  ASSAY_RETURN_IF_ERROR(expect_between("traces.start_ns", traces.start_ns, 0, kMostStart));
  ASSAY_RETURN_IF_ERROR(
      expect_between("traces.cpu_ns", traces.cpu_ns, 0, std::min(wall_ns, kMostStart) + kAroundNs));
  ASSAY_RETURN_IF_ERROR(expect_between(
      "traces.channels", static_cast<std::int64_t>(traces.channels.size()), 0, kMostChannels));
  ASSAY_RETURN_IF_ERROR(expect_count("traces.unavailable", traces.unavailable.size()));
  const auto last_ns = traces.start_ns + std::min(wall_ns, kMostStart) + kAroundNs + kMostAsleepNs;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < traces.channels.size(); ++i) {
    const auto& trace = traces.channels[i];
    ASSAY_RETURN_IF_ERROR(check_channel(fmt::format("traces.channels[{}]", i), trace,
                                        traces.start_ns - kAroundNs, last_ns));
    if (!names.insert(trace.channel).second) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("traces.channels has '{}' twice", trace.channel));
    }
  }
  return {};
}

}  // namespace assay::wire
