#include "assay/report/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/text.h"
#include "assay/record/metric.h"

namespace assay::report {
namespace {

constexpr auto kDurations = std::to_array<Scale>({{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}});
constexpr auto kSizes =
    std::to_array<Scale>({{"B", 1, true}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}});
constexpr double kWidestSpan = 1e4;
/// Gives each value its own unit if a column would show "175000" next to "950".
constexpr double kLongestNumber = 1e4;
constexpr double kSmallestGap = 1e-7;

std::span<const Scale> scales_of(std::string_view unit) {
  if (unit == "ns") {
    return kDurations;
  }
  return unit == "bytes" ? std::span<const Scale>(kSizes) : std::span<const Scale>();
}

/// Decimals that show `digits` significant digits of `value`; negative: digits before the point
/// that are rounded away.
int decimals_for(double value, int digits) {
  if (value == 0) {
    return 0;
  }
  return digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value))));
}

std::string fixed(double value, int decimals) {
  if (decimals >= 0) {
    return fmt::format("{:.{}f}", value, decimals);
  }
  const double step = std::pow(10.0, -decimals);
  return fmt::format("{:.0f}", std::round(value / step) * step);
}

std::string text_from_special(std::string_view special) {
  return special == "inf" ? "∞" : special == "-inf" ? "−∞" : "NaN";
}

Scale scale_of_value(const Scale& scale, double value) {
  return scale.raw_unit.empty() ? scale : scale_for(scale.raw_unit, {value});
}

/// The blocks that terminals show in no column and in two; a subset of Unicode's East Asian Width.
using Range = std::pair<std::uint32_t, std::uint32_t>;
constexpr auto kZero = std::to_array<Range>({{0x300, 0x36F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}});
constexpr auto kWide = std::to_array<Range>({{0x1100, 0x115F},
                                             {0x2E80, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE4F},
                                             {0xFF00, 0xFF60},
                                             {0x1F300, 0x1FAFF},
                                             {0x20000, 0x3FFFD}});

std::size_t width_of(std::uint32_t code_point) {
  const auto is_in = [code_point](const Range& range) {
    return code_point >= range.first && code_point <= range.second;
  };
  return std::ranges::any_of(kZero, is_in) ? 0 : std::ranges::any_of(kWide, is_in) ? 2 : 1;
}

/// The longest part from the front that takes at most `width` columns.
std::string_view front_of_width(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  std::size_t taken = 0;
  while (end < text.size()) {
    const auto [value, bytes] = first_code_point(text.substr(end));
    taken += width_of(value);
    if (taken > width) {
      break;
    }
    end += bytes;
  }
  return text.substr(0, end);
}

/// The longest part from the back; `text_width` is the display width of all of it.
std::string_view back_of_width(std::string_view text, std::size_t text_width, std::size_t width) {
  while (text_width > width) {
    const auto [value, bytes] = first_code_point(text);
    text_width -= width_of(value);
    text.remove_prefix(bytes);
  }
  return text;
}

}  // namespace

Scale scale_for(std::string_view unit, std::vector<double> values) {
  const auto scales = scales_of(unit);
  if (scales.empty()) {
    const bool is_count = unit == "count";
    return {is_count || unit == "ratio" ? "" : unit, 1, is_count};
  }
  std::erase_if(values, [](double value) { return !std::isfinite(value) || value == 0; });
  if (values.empty()) {
    return scales.front();
  }
  std::ranges::sort(values, {}, [](double value) { return std::abs(value); });
  if (std::abs(values.back()) > kWidestSpan * std::abs(values.front())) {
    return {.raw_unit = unit};
  }
  const double middle = std::abs(values[values.size() / 2]);
  Scale best = scales.front();
  for (const auto& scale : scales) {
    best = middle >= scale.divisor ? scale : best;
  }
  const bool is_long = std::abs(values.back()) >= kLongestNumber * best.divisor &&
                       best.divisor < scales.back().divisor;
  return is_long ? Scale{.raw_unit = unit} : best;
}

std::string text_from_number(double value, int digits) {
  if (std::isnan(value)) {
    return text_from_special("nan");
  }
  if (std::isinf(value)) {
    return text_from_special(value > 0 ? "inf" : "-inf");
  }
  const double size = std::abs(value);
  if (size != 0 && (size < 1e-3 || size >= 1e7)) {
    return fmt::format("{:.{}e}", value, digits - 1);
  }
  if (size == 0) {
    return "0";
  }
  // 9.996 has its last digit one place further left once it is rounded to 10.0.
  const double rounded = std::stod(fixed(value, decimals_for(value, digits)));
  return fixed(value, decimals_for(rounded, digits));
}

std::string text_from_count(double value) {
  constexpr double kWholeFrom = 100;
  return value < kWholeFrom ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::string text_from_similarity(double value) {
  const double gap = 1 - value;
  if (!(gap > 0) || gap > 0.005) {
    return text_from_number(value);
  }
  return gap < kSmallestGap ? ">0.9999999" : fixed(value, decimals_for(gap, 2));
}

std::string text_from_error(const Metric& metric) {
  const auto* definition = find_metric(metric.name);
  const double value = double_from_metric(metric);
  if (definition == nullptr) {
    return text_from_number(value);
  }
  if (definition->unit == "count" && std::isfinite(value)) {
    return fmt::format("{:.0f}", value);
  }
  return definition->unit == "ratio" && definition->better == Better::kHigher
             ? text_from_similarity(value)
             : text_from_number(value);
}

std::string text_from_estimate(const Estimate& estimate, const Scale& scale) {
  if (!estimate.special.empty()) {
    return text_from_special(estimate.special);
  }
  const auto own = scale_of_value(scale, estimate.value);
  const double value = estimate.value / own.divisor;
  const auto text =
      own.is_whole && value == std::round(value) ? fixed(value, 0) : text_from_number(value);
  return scale.raw_unit.empty() ? text : fmt::format("{} {}", text, own.unit);
}

std::string text_from_interval(const Estimate& estimate, const Scale& scale) {
  if (!estimate.low || !estimate.high || !estimate.special.empty()) {
    return {};
  }
  const double divisor = scale_of_value(scale, estimate.value).divisor;
  const double low = *estimate.low / divisor;
  const double high = *estimate.high / divisor;
  const auto value = text_from_number(estimate.value / divisor);
  const auto point = value.find('.');
  if (value.find('e') != std::string::npos || !std::isfinite(low) || !std::isfinite(high)) {
    return fmt::format("[{}, {}]", text_from_number(low), text_from_number(high));
  }
  const int whole = std::min(0, decimals_for(estimate.value / divisor, 3));
  const int decimals =
      point == std::string::npos ? whole : static_cast<int>(value.size() - point - 1);
  return fmt::format("[{}, {}]", fixed(low, decimals), fixed(high, decimals));
}

std::string text_from_share(double ratio) {
  if (!std::isfinite(ratio)) {
    return text_from_number(ratio);
  }
  const double percent = ratio * 100;
  if (percent > 99.9 && percent < 100) {
    return ">99.9";
  }
  if (percent > 0 && percent < 0.1) {
    return "<0.1";
  }
  return percent == 100 ? "100" : text_from_number(percent);
}

std::string text_from_change(double ratio) {
  return fmt::format("{:+.{}f}", ratio * 100, std::abs(ratio) < 0.01 ? 2 : 1);
}

std::string text_from_changes(const std::optional<double>& low, const std::optional<double>& high) {
  return low && high ? fmt::format("[{}, {}]", text_from_change(*low), text_from_change(*high))
                     : std::string(kNotMeasured);
}

std::string text_from_metric(std::string_view name, const Estimate& estimate) {
  const auto unit = definition_of(name, estimate).unit;
  if (name.ends_with("speedup_ratio")) {
    return text_from_estimate(estimate, {}) + "×";
  }
  if (name == "delegated_ratio" && estimate.special.empty()) {
    return text_from_share(estimate.value) + " %";
  }
  const auto scale = scale_for(unit, {estimate.value});
  const auto text = text_from_estimate(estimate, scale);
  return scale.unit.empty() || !estimate.special.empty() ? text
                                                         : fmt::format("{} {}", text, scale.unit);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const auto [value, bytes] = first_code_point(text);
    width += width_of(value);
    text.remove_prefix(bytes);
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  const auto text_width = display_width(text);
  if (text_width <= width) {
    return std::string(text);
  }
  if (width < 2) {
    return width == 1 ? "…" : "";
  }
  const std::size_t back = (width - 1) / 2;
  return fmt::format("{}…{}", front_of_width(text, width - 1 - back),
                     back_of_width(text, text_width, back));
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::istringstream words{std::string(text)};
  std::string out;
  std::size_t at = 0;
  for (std::string word; words >> word;) {
    word = shortened(word, width > indent ? width - indent : 1);
    const std::size_t length = display_width(word);
    if (at > 0 && at + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (at > 0) {
      out += ' ';
      ++at;
    }
    out += word;
    at += length;
  }
  return out;
}

std::string last_line(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      last = line;
    }
  }
  return printable(last);
}

std::string counted(std::size_t count, std::string_view noun, std::string_view plural) {
  if (count == 1) {
    return fmt::format("1 {}", noun);
  }
  return plural.empty() ? fmt::format("{} {}s", count, noun) : fmt::format("{} {}", count, plural);
}

std::string joined_names(const std::vector<std::string>& names, std::size_t most) {
  const auto shown = std::span(names).first(std::min(names.size(), most));
  const auto more = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string title_of_run(const std::string& name, const std::string& models,
                         const std::string& recipes, const std::string& verb) {
  return !name.empty() ? name : !models.empty() ? models : !recipes.empty() ? recipes : verb;
}

}  // namespace assay::report
