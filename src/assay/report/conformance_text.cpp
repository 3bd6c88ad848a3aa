#include "assay/report/conformance_text.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/text.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

using ResultsOfSetting = std::vector<const ConformResult*>;

/// Results by setting, in the order in which settings first appear.
struct SettingResults {
  std::string name;
  ResultsOfSetting results;
};

std::vector<SettingResults> results_by_setting(const ConformReport& report) {
  const SettingNames names(report);
  std::vector<SettingResults> settings;
  std::map<std::string, std::size_t> places;
  for (const auto& result : report.results) {
    const auto name = names.of(result);
    const auto [place, is_new] = places.try_emplace(name, settings.size());
    if (is_new) {
      settings.push_back({.name = name});
    }
    settings[place->second].results.push_back(&result);
  }
  return settings;
}

int count_known(const ResultsOfSetting& results, KnownGap known) {
  return static_cast<int>(std::ranges::count(results, known, &ConformResult::known));
}

int count_known(const ConformReport& report, KnownGap known) {
  return static_cast<int>(std::ranges::count(report.results, known, &ConformResult::known));
}

/// The share of nodes that were delegated, over all cases whose program was made.
double delegated_share(const ResultsOfSetting& results) {
  double delegated = 0;
  double all = 0;
  for (const auto* result : results) {
    delegated += result->nodes_delegated;
    all += result->nodes_delegated + result->nodes_not_delegated;
  }
  return all > 0 ? delegated / all : 0;
}

std::string conform_verdict_colour(ConformVerdict verdict) {
  if (verdict == ConformVerdict::kPass) {
    return "32";
  }
  return is_fault_of_backend(verdict) ? "31" : "33";
}

std::string plain_count(int count) { return count == 0 ? std::string("–") : fmt::to_string(count); }

/// If all columns are too wide, refusals are shortened before wrong answers and crashes.
int importance_of(ConformVerdict verdict) {
  if (verdict == ConformVerdict::kPass) {
    return 95;
  }
  const bool is_worst =
      verdict == ConformVerdict::kFailNumeric || verdict == ConformVerdict::kCrashed;
  return is_worst ? 85 : 70;
}

TextColumn verdict_column(const std::vector<SettingResults>& settings, ConformVerdict verdict) {
  TextColumn column{.title = std::string(name_of(verdict)), .importance = importance_of(verdict)};
  for (const auto& setting : settings) {
    const auto count =
        static_cast<int>(std::ranges::count(setting.results, verdict, &ConformResult::verdict));
    column.cells.push_back({plain_count(count), count == 0 ? "" : conform_verdict_colour(verdict)});
  }
  return column;
}

TextColumn known_column(const std::vector<SettingResults>& settings, std::string title,
                        std::string unit, KnownGap known, const std::string& colour) {
  TextColumn column{.title = std::move(title), .unit = std::move(unit), .importance = 90};
  for (const auto& setting : settings) {
    const int count = count_known(setting.results, known);
    column.cells.push_back({fmt::to_string(count), count == 0 ? "" : colour});
  }
  return column;
}

/// Several cases of one operator, or a case of a model.
std::string group_of_case(const std::string& name) {
  return name.starts_with("models/") ? name : name.substr(0, name.find('/'));
}

/// "aten.mul (2), aten.sin and 5 more".
std::string names_with_counts(const std::map<std::string, int>& counts, std::size_t most) {
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) {
    if (names.size() == most) {
      break;
    }
    names.push_back(count == 1 ? name : fmt::format("{} ({})", name, count));
  }
  const auto more = counts.size() - names.size();
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

/// "aot_error, then pass": what became of a case, for the two directions of a change.
std::string line_of_change(const ConformChange& change) {
  return fmt::format("{} {}{}{}: {}, was {}", change.name, change.recipe,
                     change.options.empty() ? "" : " ", change.options, name_of(change.after),
                     name_of(change.before));
}

}  // namespace

std::string headline_of(const ConformReport& report) {
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : count_verdicts(report, "")) {
    parts.push_back(fmt::format("{} {}", count, name_of(verdict)));
  }
  if (const int fresh = count_known(report, KnownGap::kNewFailure); fresh > 0) {
    parts.push_back(counted(static_cast<std::size_t>(fresh), "new failure"));
  }
  const auto shard = report.shard.empty() ? "" : fmt::format(", shard {}", report.shard);
  return fmt::format("conform {}, {} tier{}: {}{}", report.suite, report.tier, shard,
                     counted(report.results.size(), "result"),
                     parts.empty() ? "" : fmt::format(": {}", fmt::join(parts, ", ")));
}

TextTable verdict_table(const ConformReport& report) {
  const auto settings = results_by_setting(report);
  TextTable table{.indent = 2};
  TextColumn name{.title = "recipe", .is_left = true, .importance = 100, .most_width = 40};
  TextColumn share{.title = "delegated", .unit = "% of nodes", .importance = 60};
  for (const auto& setting : settings) {
    name.cells.push_back({printable(setting.name)});
    share.cells.push_back({text_from_share(delegated_share(setting.results))});
  }
  table.columns.push_back(std::move(name));
  for (const auto& [verdict, count] : count_verdicts(report, "")) {
    table.columns.push_back(verdict_column(settings, verdict));
  }
  // Failures are new, known, or listed as unsupported: the three add up.
  if (count_known(report, KnownGap::kUnsupported) > 0) {
    table.columns.push_back(
        known_column(settings, "unsupported", "listed", KnownGap::kUnsupported, "33"));
  }
  table.columns.push_back(
      known_column(settings, "known", "failures", KnownGap::kKnownFailure, "33"));
  table.columns.push_back(known_column(settings, "new", "failures", KnownGap::kNewFailure, "31"));
  table.columns.push_back(std::move(share));
  return table;
}

std::vector<const ConformResult*> findings_of(const ConformReport& report) {
  std::vector<const ConformResult*> findings;
  for (const auto& result : report.results) {
    if (result.known == KnownGap::kNewFailure || result.known == KnownGap::kUnexpectedPass) {
      findings.push_back(&result);
    }
  }
  return findings;
}

SettingNames::SettingNames(const ConformReport& report) {
  std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> by_recipe;
  for (const auto& result : report.results) {
    auto& [engines, options] = by_recipe[result.recipe];
    if (!result.engine.empty()) {
      engines.insert(result.engine);
    }
    options.insert(result.options);
  }
  for (const auto& [recipe, values] : by_recipe) {
    if (values.first.size() > 1) {
      several_engines_.insert(recipe);
    }
    if (values.second.size() > 1) {
      several_options_.insert(recipe);
    }
  }
}

std::string SettingNames::of(const ConformResult& result) const {
  const bool has_options = several_options_.contains(result.recipe) && !result.options.empty();
  return result.recipe + (has_options ? " " + result.options : "") + engine_of(result);
}

std::string SettingNames::title_of(const ConformResult& result) const {
  return printable(fmt::format("{} {}{}{}{}", result.name, result.recipe,
                               result.options.empty() ? "" : " ", result.options,
                               engine_of(result)));
}

std::string SettingNames::engine_of(const ConformResult& result) const {
  const bool is_told = several_engines_.contains(result.recipe) && !result.engine.empty();
  return is_told ? " " + result.engine : "";
}

std::string text_of_finding(const ConformResult& result) {
  if (result.known == KnownGap::kUnexpectedPass) {
    return "passes although it is listed as a known gap: " + printable(result.known_reason);
  }
  const bool has_stage = result.stage != Stage::kNone && result.stage != Stage::kDone;
  return printable(fmt::format("{}{}: {}", name_of(result.verdict),
                               has_stage ? fmt::format(" at {}", name_of(result.stage)) : "",
                               result.text));
}

std::vector<std::string> lines_of_changes(const ConformReport& report) {
  std::vector<std::string> lines;
  for (const auto& [heading, is_worse] :
       {std::pair("newly failing", true), std::pair("newly passing", false)}) {
    for (const auto& change : report.changes) {
      const bool fails = change.after != ConformVerdict::kPass;
      const bool passed = change.before == ConformVerdict::kPass;
      if (fails == is_worse && (passed || !fails)) {
        lines.push_back(fmt::format("{}: {}", heading, line_of_change(change)));
      }
    }
  }
  for (const auto& change : report.changes) {
    if (change.after != ConformVerdict::kPass && change.before != ConformVerdict::kPass) {
      lines.push_back("fails otherwise: " + line_of_change(change));
    }
  }
  return lines;
}

std::vector<std::string> lines_of_stale(const ConformReport& report) {
  std::vector<std::string> lines;
  lines.reserve(report.stale.size());
  for (const auto& stale : report.stale) {
    lines.push_back(printable(fmt::format("{} {}: {}; assay conform --update-known removes it",
                                          stale.recipe, stale.entry, stale.why)));
  }
  return lines;
}

std::vector<std::string> lines_of_expected(const ConformReport& report, std::size_t most) {
  std::vector<std::string> lines;
  for (const auto& setting : results_by_setting(report)) {
    for (const auto& [known, noun] :
         {std::pair(KnownGap::kKnownFailure, "known failure"),
          std::pair(KnownGap::kUnsupported, "case listed as unsupported")}) {
      std::map<std::string, int> counts;
      for (const auto* result : setting.results) {
        if (result->known == known) {
          ++counts[group_of_case(result->name)];
        }
      }
      if (const int all = count_known(setting.results, known); all > 0) {
        const bool is_known = known == KnownGap::kKnownFailure;
        lines.push_back(printable(
            fmt::format("{}: {}: {}", setting.name,
                        counted(static_cast<std::size_t>(all), noun,
                                is_known ? "known failures" : "cases listed as unsupported"),
                        names_with_counts(counts, most))));
      }
    }
  }
  return lines;
}

std::vector<std::string> lines_of_coverage(const ConformReport& report) {
  if (report.coverage.empty()) {
    return {};
  }
  std::size_t covered = 0;
  std::size_t cases = 0;
  std::map<std::string, std::vector<std::string>> missing;  // By reason.
  for (const auto& one : report.coverage) {
    cases += static_cast<std::size_t>(one.cases);
    if (one.cases > 0) {
      ++covered;
    } else {
      missing[one.reason.empty() ? "no reason is given" : one.reason].push_back(one.operator_name);
    }
  }
  std::vector<std::string> lines = {fmt::format("{} of {} have {}", covered,
                                                counted(report.coverage.size(), "operator"),
                                                counted(cases, "case"))};
  for (const auto& [reason, operators] : missing) {
    lines.push_back(printable(fmt::format("none: {} ({})", fmt::join(operators, ", "), reason)));
  }
  return lines;
}

std::string line_of_time(const ConformReport& report) {
  std::vector<std::string> parts;
  double known = 0;
  for (const auto& stage : report.stages) {
    parts.push_back(fmt::format("{} {:.1f} s ({})", stage.name, stage.seconds, stage.steps));
    known += stage.seconds;
  }
  parts.push_back(fmt::format("other {:.1f} s", std::max(0.0, report.seconds - known)));
  const auto judged = std::ranges::count_if(report.results, [](const ConformResult& result) {
    return result.verdict != ConformVerdict::kNotRun;
  });
  return fmt::format("{:.1f} s, {:.2f} results/s: {}; {} joint and {} alone", report.seconds,
                     report.seconds > 0 ? static_cast<double>(judged) / report.seconds : 0.0,
                     fmt::join(parts, ", "),
                     counted(static_cast<std::size_t>(report.joint_programs), "program"),
                     report.alone_programs);
}

std::vector<std::string> notes_of(const ConformReport& report) {
  auto notes = report.notes;
  std::vector<std::string> unlike;
  for (const auto& result : report.results) {
    if (result.was_in_joint && result.verdict == ConformVerdict::kPass) {
      unlike.push_back(fmt::format("{} ({})", result.name, name_of(*result.was_in_joint)));
    }
  }
  if (!unlike.empty()) {
    notes.push_back(
        fmt::format("pass alone but failed in a joint program: {}", fmt::join(unlike, ", ")));
  }
  return notes;
}

}  // namespace assay::report
