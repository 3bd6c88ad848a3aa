#include "assay/summary/leaks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/stats/trend.h"

namespace assay {
namespace {

constexpr std::string_view kMalloc = "malloc";
constexpr std::string_view kPrivateDirty = "private_dirty";
constexpr double kConfidence = 0.95;
/// Growth that "no leak" may leave open: a page a cycle, the step of the coarser reading.
constexpr double kPageBytes = 4096;
constexpr std::size_t kSettlingShare = 5;

/// `is_explained`: malloc is counted and does not grow, so that less than a page a cycle is no leak
/// of pages, but free blocks that scatter.
LeakVerdict verdict_of(const stats::Trend& trend, bool is_explained) {
  if (trend.low > 0) {
    const bool is_less_than_pages = is_explained && trend.slope < kPageBytes;
    return is_less_than_pages ? LeakVerdict::kCannotTell : LeakVerdict::kLeak;
  }
  return trend.high <= kPageBytes ? LeakVerdict::kNone : LeakVerdict::kCannotTell;
}

std::string text_of(const LeakFinding& finding, const stats::Trend& trend) {
  const std::string a = finding.cycle == "load" ? "a load" : "an inference";
  const auto basis =
      fmt::format("{}, {} cycles", finding.source == kMalloc ? "malloc" : "private dirty pages",
                  finding.cycles);
  switch (finding.verdict) {
    case LeakVerdict::kLeak:
      return fmt::format("{} {:.0f} bytes {} ({:.1f} % interval {:.0f} to {:.0f}; {})",
                         finding.source == kMalloc ? "leaks" : "grows by", trend.slope, a,
                         trend.confidence * 100, trend.low, trend.high, basis);
    case LeakVerdict::kNone:
      return fmt::format("no leak larger than {:.0f} bytes {} ({})", std::max(trend.high, 0.0), a,
                         basis);
    case LeakVerdict::kCannotTell:
      break;
  }
  if (std::isinf(trend.high)) {
    return fmt::format("cannot tell whether {} leaks: {} are too few, take at least 10", a, basis);
  }
  return fmt::format(
      "cannot tell whether {} leaks: {:.0f} bytes, {:.0f} to {:.0f} ({}); more cycles would", a,
      trend.slope, trend.low, trend.high, basis);
}

void add_finding(const LeakSeries& series, std::string_view source,
                 const std::vector<std::int64_t>& bytes, std::vector<LeakFinding>& findings) {
  const auto settling = bytes.size() / kSettlingShare;
  if (bytes.size() < settling + 2) {
    return;
  }
  const std::vector<double> values(bytes.begin() + static_cast<std::ptrdiff_t>(settling),
                                   bytes.end());
  auto trend = stats::theil_sen_trend(values, kConfidence);
  if (source == kPrivateDirty) {
    // Pages are counted whole: up to one of growth over the whole span may not show.
    const double unseen = kPageBytes / static_cast<double>(values.size() - 1);
    trend.low -= unseen;
    trend.high += unseen;
  }
  const auto* const malloc_finding = find_deciding_leak(findings, series.cycle);
  const bool is_explained =
      malloc_finding != nullptr && malloc_finding->verdict == LeakVerdict::kNone;
  LeakFinding finding{.cycle = series.cycle,
                      .source = std::string(source),
                      .cycles = static_cast<int>(values.size()),
                      .bytes_per_cycle = {.value = trend.slope,
                                          .confidence = trend.confidence,
                                          .count = static_cast<int>(values.size())},
                      .verdict = verdict_of(trend, is_explained)};
  if (!std::isinf(trend.high)) {
    finding.bytes_per_cycle.low = trend.low;
    finding.bytes_per_cycle.high = trend.high;
  } else {
    finding.bytes_per_cycle.confidence = 0;
  }
  finding.text = text_of(finding, trend);
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<LeakFinding> find_leaks(const MemoryReport& memory) {
  std::vector<LeakFinding> findings;
  for (const auto& series : memory.leak_series) {
    add_finding(series, kMalloc, series.malloc_live_bytes, findings);
    add_finding(series, kPrivateDirty, series.private_dirty_bytes, findings);
  }
  return findings;
}

const LeakFinding* find_deciding_leak(const std::vector<LeakFinding>& leaks,
                                      std::string_view cycle) {
  for (const auto source : {kMalloc, kPrivateDirty}) {
    const auto found = std::ranges::find_if(leaks, [&](const LeakFinding& finding) {
      return finding.cycle == cycle && finding.source == source;
    });
    if (found != leaks.end()) {
      return &*found;
    }
  }
  return nullptr;
}

std::vector<std::string> notes_of_leaks(const std::vector<LeakFinding>& leaks) {
  std::vector<std::string> notes;
  for (const auto& finding : leaks) {
    const auto* deciding = find_deciding_leak(leaks, finding.cycle);
    if (deciding == &finding) {
      if (finding.verdict != LeakVerdict::kNone) {
        notes.push_back(finding.text);
      }
    } else if (finding.verdict == LeakVerdict::kLeak && deciding->verdict != LeakVerdict::kLeak) {
      notes.push_back(finding.text +
                      ", while malloc does not grow: memory mapped without it, or its free blocks "
                      "scattered over more pages");
    }
  }
  return notes;
}

}  // namespace assay
