#include "assay/report/case_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/text.h"
#include "assay/base/units.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/record/trade_off.h"
#include "assay/record/unfinished.h"
#include "assay/report/format.h"

namespace assay::report {
namespace {

bool has_broken_gate(const CaseSummary& cell) {
  return std::ranges::any_of(cell.gates, &GateResult::is_broken);
}

std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  return text;
}

/// "crashed at first (SIGSEGV): the runner ended by SIGSEGV".
std::string outcome_sentence(const CaseSummary& cell) {
  if (is_unfinished(cell)) {
    return fmt::format("{}: {}", kUnfinished, printable(cell.text));
  }
  auto text = with_spaces(name_of(cell.outcome));
  if (cell.stage != Stage::kNone) {
    text += fmt::format(" at {}", name_of(cell.stage));
  }
  if (!cell.reason_code.empty()) {
    text += fmt::format(" ({})", printable(cell.reason_code));
  }
  return cell.text.empty() ? text : fmt::format("{}: {}", text, printable(cell.text));
}

/// "timing inconclusive: 4.91 ms, 75 % interval [3.88, 6.25], 3 launches".
std::string timing_sentence(const CaseSummary& cell) {
  auto text = fmt::format("timing {}", with_spaces(name_of(cell.timing)));
  const auto* steady = find_estimate(cell, "steady_ns");
  if (steady == nullptr) {
    return text;
  }
  text += ": " + text_from_metric("steady_ns", *steady);
  const auto interval = text_from_interval(*steady, scale_for("ns", {steady->value}));
  if (!interval.empty()) {
    text += fmt::format(", {:.3g} % interval {}", steady->confidence * 100, interval);
  }
  return fmt::format("{}, {}", text,
                     counted(static_cast<std::size_t>(steady->count), "launch", "launches"));
}

bool is_minimum(std::string_view metric) {
  const auto* definition = find_metric(metric);
  return definition != nullptr && definition->better == Better::kHigher;
}

/// How bad a value is: higher is worse, whatever the metric's sense.
double badness(const Metric& metric) {
  const auto* definition = find_metric(metric.name);
  const double value = double_from_metric(metric);
  if (std::isnan(value)) {
    return HUGE_VAL;
  }
  return definition != nullptr && definition->better == Better::kHigher ? -value : value;
}

/// Like text_from_error(), with as many digits as tell the value apart from its limit.
std::string text_beside_limit(const Metric& metric, double limit) {
  constexpr int kFewest = 4;
  constexpr int kMost = 17;
  auto text = text_from_error(metric);
  const double value = double_from_metric(metric);
  if (value == limit || !std::isfinite(value) ||
      text != text_from_error(make_metric(metric.name, limit))) {
    return text;
  }
  for (int digits = kFewest; digits <= kMost; ++digits) {
    text = fmt::format("{:.{}g}", value, digits);
    if (text != fmt::format("{:.{}g}", limit, digits)) {
      break;
    }
  }
  return text;
}

}  // namespace

std::string_view mark_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "✓";
    case Verdict::kFail:
      return "✗";
    case Verdict::kInconclusive:
      return "?";
    case Verdict::kSkipped:
      break;
  }
  return "–";
}

std::string cause_of(const CaseSummary& cell) {
  if (cell.verdict == Verdict::kPass) {
    const bool is_told = cell.timing == Timing::kEmulated || cell.timing == Timing::kUnsteady;
    return is_told ? with_spaces(name_of(cell.timing)) : "";
  }
  if (is_unfinished(cell) && cell.verdict != Verdict::kFail) {
    return std::string(kUnfinished);
  }
  // Where a pass was refused, what another one found decides.
  const bool is_found = is_refusal(cell.outcome) && cell.verdict == Verdict::kFail;
  if (cell.outcome != Outcome::kCompleted && !is_found) {
    return with_spaces(name_of(cell.outcome));
  }
  if (cell.accuracy == Accuracy::kFailNumeric) {
    return "accuracy";
  }
  if (cell.accuracy == Accuracy::kFailNondeterministic) {
    return "nondeterministic";
  }
  if (has_broken_gate(cell)) {
    return "gate";
  }
  if (cell.accuracy == Accuracy::kVacuous) {
    return "vacuous";
  }
  if (std::ranges::find(cell.accuracy_tables, Accuracy::kNotChecked, &AccuracyTable::accuracy) !=
      cell.accuracy_tables.end()) {
    return "not checked";
  }
  if (std::ranges::any_of(cell.gates, &GateResult::is_undecided)) {
    return "gate undecided";
  }
  const bool is_timed = cell.timing == Timing::kUnsteady || cell.timing == Timing::kInconclusive;
  return is_timed                                 ? with_spaces(name_of(cell.timing))
         : cell.verdict == Verdict::kInconclusive ? "not checked"
                                                  : "";
}

std::string result_of(const CaseSummary& cell) {
  const auto cause = cause_of(cell);
  const auto verdict = name_of(cell.verdict);
  return cause.empty() || cause == verdict ? std::string(verdict)
                                           : fmt::format("{}: {}", verdict, cause);
}

std::string title_of(const CaseSummary& cell) {
  if (!cell.label.empty()) {
    return printable(cell.label);
  }
  return printable(fmt::format("{} {} {}", cell.model, cell.recipe, cell.options));
}

std::vector<std::string> findings_of(const CaseSummary& cell) {
  std::vector<std::string> findings;
  if (cell.outcome != Outcome::kCompleted) {
    findings.push_back(outcome_sentence(cell));
  } else if (!cell.text.empty()) {
    findings.push_back(printable(cell.text));
  }
  if (const auto words = last_line(cell.last_words); !words.empty()) {
    findings.push_back(fmt::format("last words: \"{}\"", words));
  }
  for (const auto& table : cell.accuracy_tables) {
    if (table.accuracy != Accuracy::kPass) {
      findings.push_back(fmt::format("accuracy against {}: {}{}{}", printable(table.against),
                                     with_spaces(name_of(table.accuracy)),
                                     table.reason.empty() ? "" : ": ", printable(table.reason)));
    }
  }
  for (const auto& gate : cell.gates) {
    if (!gate.is_met) {
      findings.push_back((gate.is_undecided ? "gate undecided: " : "gate: ") +
                         printable(gate.text));
    }
  }
  const bool is_open = cell.timing == Timing::kUnsteady || cell.timing == Timing::kInconclusive;
  if (is_open && cell.verdict != Verdict::kPass) {
    findings.push_back(timing_sentence(cell));
  }
  return findings;
}

const Estimate* find_estimate(const CaseSummary& cell, std::string_view name) {
  const auto found = cell.metrics.find(std::string(name));
  return found == cell.metrics.end() ? nullptr : &found->second;
}

std::map<std::string, const Estimate*> program_metrics_of(const std::vector<CaseSummary>& cases) {
  std::map<std::string, const Estimate*> found;
  for (const auto& cell : cases) {
    for (const auto& [name, estimate] : cell.metrics) {
      if (name.starts_with(kProgramPrefix)) {
        found.try_emplace(name, &estimate);
      }
    }
  }
  return found;
}

std::set<std::string> load_stages_of(const std::vector<CaseSummary>& cases) {
  std::set<std::string> names;
  for (const auto& cell : cases) {
    for (const auto& [name, ignored] : cell.metrics) {
      names.insert(name);
    }
  }
  for (const auto& definition : metric_definitions()) {
    names.erase(std::string(definition.name));
  }
  std::erase_if(names, [](const std::string& name) { return find_metric(name) == nullptr; });
  return names;
}

const OutputError* find_worst_output(const CaseSummary& cell, std::string_view against,
                                     std::string_view metric) {
  const std::string name(metric);
  const OutputError* worst = nullptr;
  for (const auto& table : cell.accuracy_tables) {
    for (const auto& output : table.outputs) {
      const auto found = output.metrics.find(name);
      if (table.against == against && found != output.metrics.end() &&
          (worst == nullptr || badness(found->second) > badness(worst->metrics.at(name)))) {
        worst = &output;
      }
    }
  }
  return worst;
}

const Metric* find_worst(const CaseSummary& cell, std::string_view against,
                         std::string_view metric) {
  const auto* output = find_worst_output(cell, against, metric);
  return output == nullptr ? nullptr : &output->metrics.at(std::string(metric));
}

std::string text_of_limit(std::string_view metric, double limit) {
  return fmt::format("{} {:g}", is_minimum(metric) ? "≥" : "≤", limit);
}

std::map<std::string, std::string> decisive_bounds(const CaseSummary& cell) {
  struct Limit {
    bool is_least = false;
    double value = 0;
  };
  std::map<std::string, Limit> limits;
  for (const auto& table : cell.accuracy_tables) {
    for (const auto& output : table.outputs) {
      for (const auto& [metric, limit] : output.bounds) {
        const bool is_least = is_minimum(metric);
        auto& strictest = limits
                              .try_emplace(fmt::format("{}.{}", table.against, metric),
                                           Limit{.is_least = is_least, .value = limit})
                              .first->second.value;
        strictest = is_least ? std::max(strictest, limit) : std::min(strictest, limit);
      }
    }
  }
  std::map<std::string, std::string> bounds;
  for (const auto& [name, limit] : limits) {
    bounds[name] = fmt::format("{}{:g}", limit.is_least ? ">=" : "<=", limit.value);
  }
  return bounds;
}

std::string text_of_error(const OutputError& output, std::string_view metric) {
  const std::string name(metric);
  const auto& error = output.metrics.at(name);
  const auto bound = output.bounds.find(name);
  return bound == output.bounds.end()
             ? text_from_error(error)
             : fmt::format("{} ({})", text_beside_limit(error, bound->second),
                           text_of_limit(metric, bound->second));
}

std::string line_from_trade_off(const TradeOff& trade_off) {
  return printable(fmt::format("{}: {}", trade_off.model, trade_off.text));
}

std::string tally_of(const std::vector<CaseSummary>& cases) {
  std::vector<std::string> parts;
  for (const auto& [verdict, name] : kEnumNames<Verdict>) {
    const auto count = std::ranges::count(cases, verdict, &CaseSummary::verdict);
    if (count > 0) {
      parts.push_back(fmt::format("{} {}", count, name));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string when_of(const Run& run) {
  std::vector<std::string> parts;
  if (run.started_unix_ns > 0) {
    parts.push_back(iso8601_from_unix_ns(run.started_unix_ns));
  }
  if (run.finished_unix_ns > run.started_unix_ns) {
    const auto ns = static_cast<double>(run.finished_unix_ns - run.started_unix_ns);
    parts.push_back(ns < 120e9 ? text_from_duration_ns(ns) : text_from_number(ns / 60e9) + " min");
  } else {
    parts.emplace_back("not finished");
  }
  parts.push_back(fmt::format("seed {}", run.seed));
  return fmt::format("{}", fmt::join(parts, ", "));
}

namespace {

std::string text_of_machine(const Environment& environment) {
  std::vector<std::string> parts;
  const auto add = [&parts](const std::string& text) {
    if (!text.empty()) {
      parts.push_back(printable(text));
    }
  };
  add(environment.cpu_model);
  add(environment.cpus > 0 ? counted(static_cast<std::size_t>(environment.cpus), "CPU") : "");
  add(environment.memory_bytes > 0 ? text_from_bytes(static_cast<double>(environment.memory_bytes))
                                   : "");
  add(environment.os);
  add(environment.kernel);
  add(environment.hypervisor);
  if (environment.hypervisor == kUserModeEmulator) {
    parts.emplace_back("emulated: its times are not those of a device");
  }
  for (const auto* detail : {kCoresDetail, kPolicyDetail}) {
    const auto text = text_of_detail(environment, detail);
    add(text.empty() ? "" : fmt::format("{}: {}", detail, text));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string machine_of(const Run& run, const Environment& environment) {
  const auto device = run.labels.find("device");
  return fmt::format("{}{}", device == run.labels.end() ? "" : printable(device->second) + ": ",
                     text_of_machine(environment));
}

std::vector<std::string> machines_of(const RunSummary& summary) {
  std::vector<std::string> machines;
  machines.reserve(summary.devices.size() + 1);
  for (const auto& [name, environment] : summary.devices) {
    machines.push_back(fmt::format("{}: {}", printable(name), text_of_machine(environment)));
  }
  if (summary.devices.empty()) {
    machines.push_back(machine_of(summary.run, summary.environment));
  }
  std::erase(machines, "");
  return machines;
}

const Environment& environment_of(const RunSummary& summary, const CaseSummary& cell) {
  const auto found = summary.devices.find(cell.device);
  return found == summary.devices.end() ? summary.environment : found->second;
}

}  // namespace assay::report
