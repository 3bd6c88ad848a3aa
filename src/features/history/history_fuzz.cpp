// Whatever a CSV file holds, reading it never crashes, and what was read is analyzed: segments
// cover all points, and every index that an analysis names exists.
#include "features/history/csv_series.h"
#include "features/history/history.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "assay/base/result.h"

namespace {

void check(const assay::history::AnalyzedSeries& one) {
  const std::size_t count = one.series.points.size();
  ASSAY_CHECK(count > 0);
  std::size_t end = 0;
  for (const auto& segment : one.analysis.segments) {
    ASSAY_CHECK(segment.first == end && segment.end > segment.first);
    end = segment.end;
  }
  ASSAY_CHECK(end == count);
  for (const auto& step : one.analysis.steps) {
    ASSAY_CHECK(step.last_before < step.point && step.point <= step.first_after);
    ASSAY_CHECK(step.first_after < count && !std::isnan(step.shift.estimate));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto found = assay::history::series_from_csv(text, "fuzz.csv");
  if (!found) {
    ASSAY_CHECK(!found.error().message.empty());
    return 0;
  }
  const auto history = assay::history::make_history("fuzz", std::move(found->series), {});
  for (const auto& one : history.series) {
    check(one);
  }
  return 0;
}
