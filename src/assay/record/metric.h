#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"

namespace assay {

enum class Better : std::uint8_t { kLower, kHigher, kNone };

template <>
inline constexpr auto kEnumNames<Better> = std::to_array<EnumName<Better>>(
    {{Better::kLower, "lower"}, {Better::kHigher, "higher"}, {Better::kNone, "none"}});

/// The way to compare two values of a metric.
enum class MetricScale : std::uint8_t {
  kRatio,       ///< By ln(value / reference): a quantity above 0, such as a time, size or rate.
  kDifference,  ///< By value - reference: it may be 0 or negative, or is a ratio itself.
};

template <>
inline constexpr auto kEnumNames<MetricScale> = std::to_array<EnumName<MetricScale>>(
    {{MetricScale::kRatio, "ratio"}, {MetricScale::kDifference, "difference"}});

/// A metric is data; its formula stands in docs/reference/metrics.md under its name.
struct MetricDefinition {
  std::string_view name;  ///< "steady_ns"
  int version = 1;        ///< Raised when the formula changes; series of two versions do not join.
  std::string_view unit;  ///< "ns", "bytes", "ratio", "dB", "count", ""
  Better better = Better::kLower;
  std::string_view level;  ///< "case", "launch", "output"
  std::string_view title;  ///< "steady"
  /// Set where it is another than that of the unit (assay/record/unit.h).
  std::optional<MetricScale> scale = std::nullopt;
};

std::span<const MetricDefinition> metric_definitions();
const MetricDefinition* find_metric(std::string_view name);

/// A time of launches or what is derived from one: it differs from launch to launch, and an
/// emulator's is not that of the hardware.
bool is_time_of_launches(const MetricDefinition& definition);

/// One number of one attempt. NaN and Inf have value 0 and `special` "nan", "inf" or "-inf".
struct Metric {
  std::string name;
  int version = 1;
  double value = 0;
  std::string special;
  std::string scope;  ///< "" for the case, "output:0", "against:float32", …
};

/// Splits a double into value and special mark.
Metric make_metric(std::string_view name, double value, std::string scope = {});

/// Inverse of the mark: the double, NaN and infinities included.
double double_from_metric(const Metric& metric);

/// One number that a program tells of a launch, by a name of its own. The metric's full name is
/// kProgramPrefix and the name: "program:tokens_per_s".
struct ProgramMetric {
  std::string name;  ///< "tokens_per_s": letters, digits, "_" and ".", at most 64.
  std::string unit;  ///< As in MetricDefinition: "ns", "bytes", "1/s", "count", "ratio", "J", "W".
  Better better = Better::kLower;
  double value = 0;  ///< Finite.
};

inline constexpr std::string_view kProgramPrefix = "program:";

/// Tells whether a program can call its metric so.
bool is_program_metric_name(std::string_view name);

/// The units in which the numbers of programs are kept.
std::span<const std::string_view> program_metric_units();

/// A number with its interval and count, ready to be shown.
struct Estimate {
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
  double confidence = 0;  ///< Coverage of [low, high], 0..1; 0 without an interval.
  int count = 0;          ///< Launches (or samples) behind it.
  std::string special;
  /// Set for a program's own metric; empty for the metrics that have a definition.
  std::string unit;
  Better better = Better::kLower;  ///< Set for a program's own metric.
};

/// The definition of a metric by its name; for a program's own one made of the estimate, whose name
/// is the title. The views live as long as `name` and `estimate`.
MetricDefinition definition_of(std::string_view name, const Estimate& estimate);

void to_json(nlohmann::json& j, const MetricDefinition& definition);
ASSAY_DECLARE_JSON(Metric);
ASSAY_DECLARE_JSON(ProgramMetric);
ASSAY_DECLARE_JSON(Estimate);

}  // namespace assay
