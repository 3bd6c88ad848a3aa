#include "assay/record/unit.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "assay/record/metric.h"

namespace assay {
namespace {

using enum MetricScale;

constexpr auto kKnownUnits = std::to_array<Unit>({
    {"s", "ns", 1e9},
    {"ms", "ns", 1e6},
    {"us", "ns", 1e3},
    {"ns", "ns", 1},
    {"B", "bytes", 1},
    {"bytes", "bytes", 1},
    {"kB", "bytes", 1e3},
    {"MB", "bytes", 1e6},
    {"GB", "bytes", 1e9},
    {"KiB", "bytes", 1024},
    {"MiB", "bytes", 1024.0 * 1024},
    {"GiB", "bytes", 1024.0 * 1024 * 1024},
    {"1/s", "1/s", 1, Better::kHigher},
    {"J", "J", 1},
    {"mJ", "J", 1e-3},
    {"W", "W", 1},
    {"mW", "W", 1e-3},
    {"count", "count", 1, Better::kNone, kDifference},
    {"ratio", "ratio", 1, Better::kNone, kDifference},
    {"%", "ratio", 0.01, Better::kNone, kDifference},
    {"%/min", "%/min", 1, Better::kNone, kDifference},
    {"dB", "dB", 1, Better::kHigher, kDifference},
    {"nats", "nats", 1, Better::kLower, kDifference},
    {"steps", "steps", 1, Better::kLower, kDifference},
});

}  // namespace

std::span<const Unit> units() { return kKnownUnits; }

const Unit* find_unit(std::string_view name) {
  const auto* found = std::ranges::find(kKnownUnits, name, &Unit::name);
  return found == kKnownUnits.end() ? nullptr : found;
}

}  // namespace assay
