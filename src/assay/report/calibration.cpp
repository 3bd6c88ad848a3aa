#include "assay/report/calibration.h"

#include <cstdint>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/base/units.h"
#include "assay/record/calibration.h"
#include "assay/report/format.h"

namespace assay::report {
namespace {

std::string seconds(std::int64_t ns) {
  constexpr std::int64_t kMinuteNs = 60'000'000'000;
  return ns > kMinuteNs ? fmt::format("{} min", ns / kMinuteNs)
                        : fmt::format("{} s", ns / 1'000'000'000);
}

std::string percent(double ratio) { return fmt::format("{:.2g} %", ratio * 100); }

std::string date_of(std::int64_t unix_ns) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(unix_ns / 1'000'000'000)));
}

}  // namespace

std::string console_from_calibration(const Calibration& calibration) {
  std::string out = fmt::format(
      "{} against its own copy: {:+.2f} %, p {:.3f} ({} pairs, {} each{})\n\n",
      printable(calibration.program), calibration.difference_ratio * 100, calibration.p_value,
      calibration.pairs, text_from_duration_ns(static_cast<double>(calibration.pair_ns)),
      calibration.pairs_disturbed == 0
          ? ""
          : fmt::format(", {} disturbed by other work", calibration.pairs_disturbed));
  for (const auto& [budget_ns, pairs, ratio] : calibration.detectable) {
    out += ratio < 0 ? fmt::format("  in {:>6}  nothing: {} pairs are too few\n",
                                   seconds(budget_ns), pairs)
                     : fmt::format("  in {:>6}  differences from {} on, with {} pairs\n",
                                   seconds(budget_ns), percent(ratio), pairs);
  }
  return out + fmt::format(
                   "\n  {} an inference that does nothing\n  {} a launch beside load and "
                   "inference\n",
                   text_from_duration_ns(static_cast<double>(calibration.null_inference_ns)),
                   text_from_duration_ns(static_cast<double>(calibration.launch_overhead_ns)));
}

std::string line_from_calibration(const std::optional<Calibration>& calibration) {
  if (!calibration) {
    return {};
  }
  std::string shown;
  for (const auto& [budget_ns, pairs, ratio] : calibration->detectable) {
    if (ratio >= 0) {
      shown += fmt::format("{}{}{} in {}", shown.empty() ? "" : ", ", percent(ratio),
                           shown.empty() ? " shows" : "", seconds(budget_ns));
    }
  }
  return shown.empty()
             ? ""
             : fmt::format("in {} a difference of {} (assay calibrate, {})",
                           printable(calibration->program), shown, date_of(calibration->unix_ns));
}

Json document_from_calibration(const Calibration& calibration) {
  Json document = {{"schema", "assay/calibration/1"}};
  document.update(Json(calibration));
  return document;
}

}  // namespace assay::report
