#include "assay/engines/command/operator_events.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/engines/command/printed_values.h"
#include "assay/record/launch.h"

namespace assay::command {
namespace {

/// All calls of the operators of one name.
struct Calls {
  std::int64_t count = 0;
  double total_ns = 0;
  std::vector<double> least_ns;
  std::vector<double> median_ns;
};

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

ProfileEvent event_of(const std::string& name, const Calls& calls, int position) {
  return {.name = name,
          .kind = "operator",
          .instruction = position,
          .count = calls.count,
          .total_ns = std::llround(calls.total_ns),
          .min_ns = std::llround(*std::ranges::min_element(calls.least_ns)),
          .median_ns = std::llround(median_of(calls.median_ns))};
}

}  // namespace

ProfileReport profile_from_printed(const PrintedValues& values, int inferences) {
  std::vector<std::pair<std::string, Calls>> operators;
  std::map<std::string, std::size_t> places;
  for (const auto& printed : values.operators) {
    const auto [place, is_new] = places.try_emplace(printed.name, operators.size());
    if (is_new) {
      operators.emplace_back(printed.name, Calls{});
    }
    auto& calls = operators[place->second].second;
    calls.count += printed.calls;
    calls.total_ns += printed.total_ns;
    calls.least_ns.push_back(printed.min_ns);
    calls.median_ns.push_back(printed.median_ns);
  }
  ProfileReport report{.iterations = inferences,
                       .notes = {"operators and their times are those that the command prints"}};
  if (!values.times_ns.empty()) {
    const std::vector<double> times(values.times_ns.begin(), values.times_ns.end());
    report.method_median_ns = std::llround(median_of(times));
    report.execute_median_ns = report.method_median_ns;
  }
  for (const auto& [name, calls] : operators) {
    report.events.push_back(event_of(name, calls, static_cast<int>(report.events.size())));
  }
  return report;
}

}  // namespace assay::command
