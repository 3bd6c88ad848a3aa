#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/metric.h"

/// Numbers and text as people read them.
namespace assay::report {

/// Text in place of a value that was not measured.
inline constexpr std::string_view kNotMeasured = "–";

/// A unit for people and what a raw value is divided by: {"ms", 1e6} for nanoseconds.
struct Scale {
  std::string_view unit;
  double divisor = 1;
  bool is_whole = false;      ///< Values in this unit are counts: "8 B", never "8.00 B".
  std::string_view raw_unit;  ///< Set when each value takes a unit of its own: "3.19 s", "850 ns".
};

/// One scale for a whole column, so that its numbers can be compared by eye: the unit that suits
/// the median of `values`; when they span more than four powers of ten, each its own. `unit` is
/// that of the metric: "ns", "bytes", "ratio", "dB", …
Scale scale_for(std::string_view unit, std::vector<double> values);

/// "3190", "11.6", "0.0412", "1.2e-09": `digits` significant digits, none invented.
std::string text_from_number(double value, int digits = 3);

/// A mean number of things, whole from 100 on: "0.0333", "2", "12.5", "1234567".
std::string text_from_count(double value);

/// As `text_from_number`, but what is close to 1 never reads as 1: 0.99998 stays "0.99998".
std::string text_from_similarity(double value);

/// One error of an output: by the metric's unit, without naming it.
std::string text_from_error(const Metric& metric);

/// The value in the scale; "NaN", "∞", "−∞" for special ones.
std::string text_from_estimate(const Estimate& estimate, const Scale& scale);

/// "[11.4, 12.0]" with as many decimals as the value has; empty without an interval.
std::string text_from_interval(const Estimate& estimate, const Scale& scale);

/// A ratio as percent. What is not all or nothing never reads as such: 0.9999 is ">99.9".
std::string text_from_share(double ratio);

/// A change as percent with its sign: "+3.5", "-0.41" for what is smaller than 1 %.
std::string text_from_change(double ratio);

/// "[+2.9, +5.8]": the interval of a change; what stands for nothing measured where an end is
/// absent.
std::string text_from_changes(const std::optional<double>& low, const std::optional<double>& high);

/// "11.6 ms", "14.1 MB", "98.4 %", "31.2 dB": one metric on its own, by its name.
std::string text_from_metric(std::string_view name, const Estimate& estimate);

/// Columns a terminal takes for valid UTF-8.
std::size_t display_width(std::string_view text);

/// Shortened in the middle with "…" to at most `width` columns.
std::string shortened(std::string_view text, std::size_t width);

/// Broken at spaces into lines of at most `width` columns, each after the first behind `indent`
/// spaces; a word that is too long is cut.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

/// Last line that is not empty.
std::string last_line(std::string_view text);

/// "1 case", "3 cases", "3 launches".
std::string counted(std::size_t count, std::string_view noun, std::string_view plural = {});

/// Names joined by ", ", at most `most` of them: "a, b and 3 more".
std::string joined_names(const std::vector<std::string>& names, std::size_t most = 4);

/// Name of a run for people: that of its spec, else its models, else its recipes, else its verb;
/// the first that is not empty.
std::string title_of_run(const std::string& name, const std::string& models,
                         const std::string& recipes, const std::string& verb);

}  // namespace assay::report
