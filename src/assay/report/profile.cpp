#include "assay/report/profile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"  // IWYU pragma: keep: JSON of optional values
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/base/units.h"
#include "assay/record/profile.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

constexpr std::size_t kMostNameWidth = 48;

/// One unit for all times of a profile, so that they can be added by eye.
struct TimeUnit {
  std::string_view name;
  double ns = 1;

  [[nodiscard]] std::string text(double value) const { return fmt::format("{:.3f}", value / ns); }
  [[nodiscard]] std::string text(const std::optional<double>& value) const {
    return value ? text(*value) : std::string(kNotMeasured);
  }
  [[nodiscard]] std::string signed_text(double value) const {
    return fmt::format("{:+.3f}", value / ns);
  }
};

/// Unit in which the whole is at least 1; ms for anything longer.
TimeUnit unit_of_times(double whole_ns) {
  return whole_ns >= 1e6   ? TimeUnit{"ms", 1e6}
         : whole_ns >= 1e3 ? TimeUnit{"µs", 1e3}
                           : TimeUnit{"ns"};
}

std::string us(double ns) { return fmt::format("{:.1f}", ns / 1e3); }
std::string plain_percent(double ratio) { return fmt::format("{:.1f}", ratio * 100); }
std::string number(double value) { return fmt::format("{:g}", value); }

TextColumn left_column(std::string title) {
  return {.title = std::move(title),
          .is_left = true,
          .importance = 100,
          .most_width = kMostNameWidth,
          .least_width = 20};
}

TextTable table_from_columns(std::vector<TextColumn> columns) {
  TextTable table{.indent = 2};
  table.columns = std::move(columns);
  return table;
}

TextTable table_of_parts(const std::vector<ProfilePart>& parts, std::size_t top,
                         const TimeUnit& unit) {
  auto name = left_column("operator");
  TextColumn family{.title = "family", .is_left = true, .importance = 50};
  TextColumn place{.title = "runs in", .is_left = true, .importance = 40};
  TextColumn calls{.title = "calls", .importance = 60};
  TextColumn time{.title = "time", .unit = std::string(unit.name), .importance = 95};
  TextColumn share{.title = "share", .unit = "%", .importance = 90};
  TextColumn least{.title = "min", .unit = fmt::format("{} a call", unit.name), .importance = 30};
  TextColumn mean{.title = "mean", .unit = std::string(unit.name), .importance = 20};
  for (const auto& part :
       std::vector(parts.begin(),
                   parts.begin() + static_cast<std::ptrdiff_t>(std::min(top, parts.size())))) {
    const bool is_rest = part.kind == "rest";
    name.cells.push_back({printable(part.name)});
    family.cells.push_back({part.family});
    place.cells.push_back({part.delegate.empty() ? "" : printable(part.delegate)});
    calls.cells.push_back({is_rest ? "" : number(part.calls)});
    time.cells.push_back({unit.text(part.time_ns)});
    share.cells.push_back({plain_percent(part.share_ratio)});
    least.cells.push_back({is_rest ? "" : unit.text(part.min_ns)});
    mean.cells.push_back({is_rest ? "" : unit.text(part.mean_ns)});
  }
  return table_from_columns({std::move(name), std::move(family), std::move(place), std::move(calls),
                             std::move(time), std::move(share), std::move(least), std::move(mean)});
}

TextTable table_of_groups(std::string title, const std::vector<ProfileGroup>& groups,
                          const TimeUnit& unit) {
  auto name = left_column(std::move(title));
  TextColumn calls{.title = "calls", .importance = 60};
  TextColumn time{.title = "time", .unit = std::string(unit.name), .importance = 95};
  TextColumn share{.title = "share", .unit = "%", .importance = 90};
  for (const auto& group : groups) {
    name.cells.push_back({printable(group.name)});
    calls.cells.push_back({group.calls == 0 ? "" : number(group.calls)});
    time.cells.push_back({unit.text(group.time_ns)});
    share.cells.push_back({plain_percent(group.share_ratio)});
  }
  return table_from_columns({std::move(name), std::move(calls), std::move(time), std::move(share)});
}

TextTable table_of_rows(std::string title, const std::vector<DifferenceRow>& rows, std::size_t top,
                        const TimeUnit& unit) {
  auto name = left_column(std::move(title));
  TextColumn a{.title = "A", .unit = std::string(unit.name), .importance = 80};
  TextColumn b{.title = "B", .unit = std::string(unit.name), .importance = 80};
  TextColumn calls{.title = "calls", .importance = 40};
  TextColumn difference{.title = "B - A", .unit = std::string(unit.name), .importance = 95};
  TextColumn share{.title = "share", .unit = "%", .importance = 60};
  TextColumn sum{.title = "so far", .unit = "%", .importance = 90};
  for (std::size_t i = 0; i < std::min(top, rows.size()); ++i) {
    const auto& row = rows[i];
    name.cells.push_back({printable(row.name)});
    a.cells.push_back({unit.text(row.a_ns)});
    b.cells.push_back({unit.text(row.b_ns)});
    calls.cells.push_back({row.a_calls == row.b_calls
                               ? number(row.a_calls)
                               : number(row.a_calls) + " -> " + number(row.b_calls)});
    difference.cells.push_back({unit.signed_text(row.difference_ns)});
    share.cells.push_back({plain_percent(row.share_ratio)});
    sum.cells.push_back({plain_percent(row.cumulative_ratio)});
  }
  return table_from_columns({std::move(name), std::move(calls), std::move(a), std::move(b),
                             std::move(difference), std::move(share), std::move(sum)});
}

/// "A", "B", …, and numbers when the letters are used up.
std::string letter_of(std::size_t index) {
  return index < 26 ? std::string(1, static_cast<char>('A' + index)) : fmt::format("{}", index + 1);
}

TextTable table_of_layers(const ProfileLayers& layers) {
  std::vector<TextColumn> columns = {{.title = "", .importance = 98}, left_column("layer of A")};
  for (std::size_t k = 0; k < layers.labels.size(); ++k) {
    columns.push_back({.title = letter_of(k), .unit = "µs", .importance = 95});
  }
  for (std::size_t i = 0; i < layers.rows.size(); ++i) {
    columns[0].cells.push_back({fmt::format("{}", i + 1)});
    columns[1].cells.push_back({printable(layers.rows[i].names.front())});
    for (std::size_t k = 0; k < layers.labels.size(); ++k) {
      columns[2 + k].cells.push_back({us(layers.rows[i].time_ns[k])});
    }
  }
  columns[0].cells.push_back({""});
  columns[1].cells.push_back({"all of them"});
  for (std::size_t k = 0; k < layers.labels.size(); ++k) {
    columns[2 + k].cells.push_back({us(layers.sum_ns[k])});
  }
  return table_from_columns(std::move(columns));
}

std::string line(const std::string& text, std::size_t width) {
  return "  " + wrapped(printable(text), width - 2, 2) + "\n";
}

std::string slowdown_text(const ProfileBreakdown& breakdown) {
  const auto profiled =
      fmt::format("{} a profiled inference ({} in one launch)",
                  text_from_duration_ns(breakdown.execute_ns), breakdown.iterations);
  if (!breakdown.timed_ns) {
    return profiled + "; there is no timed pass to compare it with";
  }
  auto both = fmt::format(
      "{}, {} a timed one ({})", profiled, text_from_duration_ns(*breakdown.timed_ns),
      counted(static_cast<std::size_t>(breakdown.timed_launches), "launch", "launches"));
  if (!breakdown.slowdown_ratio) {
    return both;
  }
  const auto floors = breakdown.floor_slowdown_ratio
                          ? fmt::format(", {:.3f} by their floors", *breakdown.floor_slowdown_ratio)
                          : "";
  return fmt::format("{}: the profiler's slow-down is {:.3f}{}", both, *breakdown.slowdown_ratio,
                     floors);
}

/// Values of one inference, then each reason once with all events it is the reason of.
std::string counters_text(const ProfileBreakdown& breakdown, std::size_t width) {
  std::string text;
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const auto& counter : breakdown.counters) {
    if (counter.value) {
      const double each = *counter.value / breakdown.counted_iterations;
      text += line(
          fmt::format(
              "{}: {} an inference{}", counter.name,
              counter.name == "task-clock" ? text_from_duration_ns(each) : text_from_count(each),
              counter.running_ratio < 0.999
                  ? fmt::format(", scaled from {:.0f} % of the time", counter.running_ratio * 100)
                  : ""),
          width);
      continue;
    }
    const auto known = std::ranges::find(reasons, counter.unavailable,
                                         &std::pair<std::string, std::string>::first);
    if (known == reasons.end()) {
      reasons.emplace_back(counter.unavailable, counter.name);
    } else {
      known->second += ", " + counter.name;
    }
  }
  for (const auto& [reason, names] : reasons) {
    text += line(fmt::format("{}: unavailable: {}", names, reason), width);
  }
  return text;
}

std::string more_text(const std::vector<ProfilePart>& parts, std::size_t top,
                      const TimeUnit& unit) {
  if (parts.size() <= top) {
    return "";
  }
  double time_ns = 0;
  double share = 0;
  for (std::size_t i = top; i < parts.size(); ++i) {
    time_ns += parts[i].time_ns;
    share += parts[i].share_ratio;
  }
  return fmt::format("  {} more: {} {}, {} %; --top shows them\n", parts.size() - top,
                     unit.text(time_ns), unit.name, plain_percent(share));
}

std::string difference_text(const ProfileDifference& difference, const TimeUnit& unit) {
  auto text = fmt::format("B takes {0} {3} where A takes {1} {3} under the profiler: {2} {3}",
                          unit.text(difference.b_ns), unit.text(difference.a_ns),
                          unit.signed_text(difference.difference_ns), unit.name);
  if (difference.a_timed_ns && difference.b_timed_ns) {
    text +=
        fmt::format(", and {} {} without it ({} and {})",
                    unit.signed_text(*difference.b_timed_ns - *difference.a_timed_ns), unit.name,
                    unit.text(*difference.b_timed_ns), unit.text(*difference.a_timed_ns));
  }
  return text + ". This says where a difference lies; assay compare says whether there is one.";
}

}  // namespace

std::string console_from_breakdown(const ProfileBreakdown& breakdown, std::size_t top,
                                   std::size_t width, bool has_colour) {
  const auto unit = unit_of_times(breakdown.method_ns);
  std::string out = coloured(printable(breakdown.label), "1", has_colour) + "\n";
  out += line(slowdown_text(breakdown), width);
  out += line(
      fmt::format(
          "the method takes {}; {} {} ({} %) of it outside any operator",
          text_from_duration_ns(breakdown.method_ns), unit.text(breakdown.outside_ns), unit.name,
          plain_percent(breakdown.method_ns > 0 ? breakdown.outside_ns / breakdown.method_ns : 0)),
      width);
  out += "\n" + table_of_parts(breakdown.parts, top, unit).lay_out(width, has_colour).text;
  out += more_text(breakdown.parts, top, unit);
  out += "\n" + table_of_groups("family", breakdown.families, unit).lay_out(width, has_colour).text;
  out += "\n" + table_of_groups("delegate", breakdown.places, unit).lay_out(width, has_colour).text;
  if (!breakdown.counters.empty()) {
    out +=
        fmt::format("\n  counted in {} without the profiler, all threads\n",
                    counted(static_cast<std::size_t>(breakdown.counted_iterations), "inference"));
    out += counters_text(breakdown, width);
  }
  for (const auto& note : breakdown.notes) {
    out += line("note: " + note, width);
  }
  return out;
}

std::string console_from_instructions(const InstructionReport& instructions, std::size_t top,
                                      std::size_t width, bool has_colour) {
  if (!instructions.unavailable.empty()) {
    return line("instructions: unavailable: " + instructions.unavailable, width);
  }
  auto out =
      line(fmt::format("{:.0f} instructions an inference ({}: {} in {} inferences, {} in {})",
                       instructions.instructions_per_inference, instructions.tool,
                       instructions.few_instructions, instructions.few,
                       instructions.many_instructions, instructions.many),
           width);
  auto name = left_column("function, without what it calls");
  name.most_width = 72;
  TextColumn count{.title = "instructions", .unit = "an inference", .importance = 95};
  TextColumn share{.title = "share", .unit = "%", .importance = 90};
  for (std::size_t i = 0; i < std::min(top, instructions.functions.size()); ++i) {
    const auto& function = instructions.functions[i];
    name.cells.push_back({printable(function.name)});
    count.cells.push_back({fmt::format("{:.0f}", function.instructions)});
    share.cells.push_back(
        {plain_percent(function.instructions / instructions.instructions_per_inference)});
  }
  out += table_from_columns({std::move(name), std::move(count), std::move(share)})
             .lay_out(width, has_colour)
             .text;
  for (const auto& note : instructions.notes) {
    out += line("note: " + note, width);
  }
  return out;
}

std::string console_from_difference(const ProfileDifference& difference, std::size_t top,
                                    std::size_t width, bool has_colour) {
  const auto unit = unit_of_times(std::max(difference.a_ns, difference.b_ns));
  auto out =
      fmt::format("A  {}\nB  {}\n", printable(difference.a_label), printable(difference.b_label));
  out += line(difference_text(difference, unit), width);
  out +=
      "\n" + table_of_rows("operator", difference.parts, top, unit).lay_out(width, has_colour).text;
  if (difference.parts.size() > top) {
    out += fmt::format("  {} more; --top shows them\n", difference.parts.size() - top);
  }
  for (const auto& [title, rows] :
       {std::pair{"family", &difference.families}, std::pair{"delegate", &difference.places}}) {
    out += "\n" + table_of_rows(title, *rows, rows->size(), unit).lay_out(width, has_colour).text;
  }
  out += '\n';
  for (const auto& change : difference.delegation) {
    out += line(change.text, width);
  }
  for (const auto& note : difference.notes) {
    out += line(note, width);
  }
  return out;
}

std::string console_from_layers(const ProfileLayers& layers, std::size_t width, bool has_colour) {
  std::string out = "Layer by layer, in the order of execution\n";
  for (std::size_t k = 0; k < layers.labels.size(); ++k) {
    out += line(letter_of(k) + "  " + layers.labels[k], width);
  }
  if (!layers.rows.empty()) {
    out += "\n" + table_of_layers(layers).lay_out(width, has_colour).text;
    out +=
        line(fmt::format("none is faster than A in {} of {} layers; the fastest other takes {:.2f} "
                         "times as long as A in the geometric mean, and {:.2f} times in the sum",
                         layers.fastest_count, layers.rows.size(), layers.fastest_other_ratio,
                         layers.sum_fastest_other_ratio),
             width);
  }
  for (const auto& note : layers.notes) {
    out += line("note: " + note, width);
  }
  return out;
}

Json document_from_profiles(const std::string& run, const std::vector<ProfiledCase>& cases,
                            const std::optional<ProfileDifference>& difference,
                            const std::optional<ProfileLayers>& layers) {
  Json document = {{"schema", "assay/profile/1"}, {"run", run}, {"cases", Json::array()}};
  for (const auto& one : cases) {
    Json entry = one.breakdown;
    entry["instructions"] = one.instructions;
    document["cases"].push_back(std::move(entry));
  }
  document["difference"] = difference;
  document["layers"] = layers;
  return document;
}

}  // namespace assay::report
