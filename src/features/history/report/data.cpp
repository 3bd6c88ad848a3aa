#include "features/history/report/data.h"

#include "features/history/analysis.h"
#include "features/history/history.h"
#include "features/history/report/history_report.h"
#include "features/history/report/text.h"
#include "features/history/segment.h"
#include "features/history/series.h"
#include "features/history/verified_change.h"

#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/report/csv_row.h"
#include "assay/report/json_lines.h"

namespace assay::report {
namespace {

/// null for what is not finite.
OrderedJson change_json(const history::Series& series, double offset) {
  return std::isfinite(offset) ? OrderedJson(change_from_offset(series, offset))
                               : OrderedJson(nullptr);
}

const std::string& commit_at(const history::Series& series, std::size_t point) {
  return series.points[point].commit;
}

OrderedJson json_from_step(const history::Series& series, const history::Step& step) {
  return {{"commit", commit_at(series, step.point)},
          {"position", series.points[step.point].position},
          {"last_before", commit_at(series, step.last_before)},
          {"first_after", commit_at(series, step.first_after)},
          {"change", change_json(series, step.shift.estimate)},
          {"low", change_json(series, step.shift.low)},
          {"high", change_json(series, step.shift.high)},
          {"confidence", step.shift.confidence},
          {"statistic", step.statistic},
          {"critical_value", step.critical_value},
          {"p_value", step.p_value},
          {"autocorrelation", step.autocorrelation},
          {"is_firm", step.is_firm},
          {"is_gradual", step.is_gradual},
          {"is_counted", step.is_counted},
          {"direction", direction_of_change(series, step.shift.estimate)}};
}

OrderedJson json_from_segment(const history::Series& series, const history::Segment& segment) {
  const auto& first = series.points[segment.first];
  const auto& last = series.points[segment.end - 1];
  return {
      {"first", first.commit},
      {"last", last.commit},
      {"first_position", first.position},
      {"last_position", last.position},
      {"cause", name_of(segment.cause)},
      {"environment", series.environments.empty() ? "" : series.environments[first.environment]},
      {"level", change_json(series, segment.level)},
      {"value", segment.value}};
}

OrderedJson json_from_nomination(const history::Series& series,
                                 const history::Nomination& nomination) {
  return {{"commit", commit_at(series, nomination.point)},
          {"position", series.points[nomination.point].position},
          {"last_before", commit_at(series, nomination.last_before)},
          {"cause", name_of(nomination.cause)},
          {"change", change_json(series, nomination.change)},
          {"allowed", change_json(series, nomination.allowed)},
          {"direction", direction_of_change(series, nomination.change)}};
}

template <class Items, class Write>
OrderedJson json_list(const history::Series& series, const Items& items, std::size_t first,
                      Write write, auto point_of) {
  auto list = OrderedJson::array();
  for (const auto& item : items) {
    if (point_of(item) >= first) {
      list.push_back(write(series, item));
    }
  }
  return list;
}

OrderedJson json_from_drift(const history::Series& series, const history::Drift& drift) {
  return {{"first", commit_at(series, drift.first)},
          {"change", change_json(series, drift.change)},
          {"low", change_json(series, drift.low)},
          {"high", change_json(series, drift.high)},
          {"direction", direction_of_change(series, drift.change)}};
}

OrderedJson json_from_verified(const history::History& history,
                               const history::VerifiedChange& change) {
  return {{"series", change.series},           {"machine", change.machine},
          {"metric", change.metric},           {"state", change.state},
          {"is_worse", change.is_worse},       {"commit", change.commit},
          {"subject", change.subject},         {"position", change.position},
          {"last_before", change.last_before}, {"first_after", change.first_after},
          {"effect", change.effect},           {"details", change.details},
          {"command", change.command},         {"is_shown", change.position >= history.since}};
}

OrderedJson json_from_incident(const history::History& history, const history::Incident& incident) {
  auto steps = OrderedJson::array();
  for (const auto& where : incident.steps) {
    const auto& [series, analysis] = history.series[where.series];
    const auto& step = analysis.steps[where.step];
    steps.push_back({{"series", where.series},
                     {"commit", commit_at(series, step.point)},
                     {"change", change_json(series, step.shift.estimate)}});
  }
  return {{"likely", incident.likely},
          {"last_before", incident.last_before},
          {"first_after", incident.first_after},
          {"series_count", incident.steps.size()},
          {"is_shown", incident.until >= history.since},
          {"steps", std::move(steps)}};
}

/// The points as columns, so that a million of them are read quickly.
OrderedJson json_from_points(const history::Series& series, std::size_t first) {
  OrderedJson columns = {{"position", OrderedJson::array()}, {"commit", OrderedJson::array()},
                         {"unix_ns", OrderedJson::array()},  {"value", OrderedJson::array()},
                         {"change", OrderedJson::array()},   {"environment", OrderedJson::array()}};
  for (std::size_t i = first; i < series.points.size(); ++i) {
    const auto& point = series.points[i];
    columns["position"].push_back(point.position);
    columns["commit"].push_back(point.commit);
    columns["unix_ns"].push_back(point.unix_ns);
    columns["value"].push_back(point.value);
    columns["change"].push_back(change_from_offset(series, point.offset));
    columns["environment"].push_back(point.environment);
  }
  return columns;
}

/// A line of the table; what does not apply is empty.
struct HistoryRow {
  std::string kind;
  std::size_t point = 0;
  double change = NAN;
  double low = NAN;
  double high = NAN;
  std::string last_before;
  std::string first_after;
  std::string p_value;
  std::string is_firm;
  std::string is_counted;
};

std::string text_of_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
}

CsvRow row_of(const history::Series& series, const HistoryRow& finding) {
  const auto& point = series.points[finding.point];
  const auto change = [&](double offset) {
    return text_of_number(change_from_offset(series, offset));
  };
  return {{"kind", finding.kind},
          {"series", series.full_name()},
          {"metric", series.metric},
          {"unit", series.unit},
          {"commit", point.commit},
          {"date", date_of_point(point)},
          {"value", text_of_number(point.value)},
          {"change", change(finding.change)},
          {"low", change(finding.low)},
          {"high", change(finding.high)},
          {"last_before", finding.last_before},
          {"first_after", finding.first_after},
          {"p_value", finding.p_value},
          {"is_firm", finding.is_firm},
          {"is_counted", finding.is_counted}};
}

const char* text_of_flag(bool value) { return value ? "true" : "false"; }

HistoryRow row_from_step(const history::Series& series, const history::Step& step) {
  return {.kind = "step",
          .point = step.point,
          .change = step.shift.estimate,
          .low = step.shift.low,
          .high = step.shift.high,
          .last_before = commit_at(series, step.last_before),
          .first_after = commit_at(series, step.first_after),
          .p_value = fmt::format("{:.3g}", step.p_value),
          .is_firm = text_of_flag(step.is_firm),
          .is_counted = text_of_flag(step.is_counted)};
}

std::vector<HistoryRow> rows_of_series(const history::AnalyzedSeries& one) {
  const auto& [series, analysis] = one;
  std::vector<HistoryRow> findings;
  findings.reserve(analysis.steps.size() + analysis.outliers.size() + 3);
  for (const auto& step : analysis.steps) {
    findings.push_back(row_from_step(series, step));
  }
  if (const auto& nomination = analysis.nomination) {
    findings.push_back({.kind = "nomination",
                        .point = nomination->point,
                        .change = nomination->change,
                        .last_before = commit_at(series, nomination->last_before)});
  }
  if (const auto& drift = analysis.drift) {
    findings.push_back({.kind = "drift",
                        .point = drift->first,
                        .change = drift->change,
                        .low = drift->low,
                        .high = drift->high});
  }
  if (analysis.silence) {
    findings.push_back({.kind = "silence", .point = series.points.size() - 1});
  }
  for (const std::size_t point : analysis.outliers) {
    findings.push_back({.kind = "outlier", .point = point});
  }
  return findings;
}

}  // namespace

OrderedJson json_from_series(const history::History& history, const history::AnalyzedSeries& one) {
  const auto& [series, analysis] = one;
  const std::size_t first = first_shown(history, series);
  auto outliers = OrderedJson::array();
  for (const std::size_t point : analysis.outliers) {
    if (point >= first) {
      outliers.push_back(commit_at(series, point));
    }
  }
  const auto write_step = [&](const history::Series& all, const history::Step& step) {
    auto json = json_from_step(all, step);
    json["is_verified"] = is_verified(step, history, all);
    return json;
  };
  OrderedJson json = {{"name", series.name},
                      {"machine", series.machine},
                      {"metric", series.metric},
                      {"unit", series.unit},
                      {"better", name_of(series.better)},
                      {"is_ratio", series.is_ratio},
                      {"point_count", series.points.size() - first},
                      {"noise", analysis.noise},
                      {"environments", series.environments},
                      {"segments", json_list(series, analysis.segments, first, json_from_segment,
                                             [](const auto& segment) { return segment.end - 1; })},
                      {"steps", json_list(series, analysis.steps, first, write_step,
                                          [](const auto& step) { return step.point; })},
                      {"outliers", std::move(outliers)}};
  if (analysis.nomination) {
    json["nomination"] = json_from_nomination(series, *analysis.nomination);
  }
  if (analysis.drift) {
    json["drift"] = json_from_drift(series, *analysis.drift);
  }
  if (analysis.silence) {
    json["silence"] = {{"commits", analysis.silence->commits}, {"days", analysis.silence->days}};
  }
  return json;
}

OrderedJson json_without_series(const history::History& history) {
  auto incidents = OrderedJson::array();
  for (const auto& incident : history.incidents) {
    incidents.push_back(json_from_incident(history, incident));
  }
  auto verified = OrderedJson::array();
  for (const auto& change : history.verified) {
    verified.push_back(json_from_verified(history, change));
  }
  const auto& rule = history.rule;
  return {{"schema", "assay/history/1"},
          {"source", history.source},
          {"notes", history.notes},
          {"rule",
           {{"min_effect", std::expm1(rule.min_effect)},
            {"alpha", rule.alpha},
            {"min_segment", rule.min_segment},
            {"window", rule.window},
            {"confidence", rule.confidence}}},
          {"incidents", std::move(incidents)},
          {"verified", std::move(verified)}};
}

std::string json_from_history(const history::History& history) {
  auto document = json_without_series(history);
  auto& list = document["series"] = OrderedJson::array();
  for (const auto& one : history.series) {
    auto json = json_from_series(history, one);
    json["points"] = json_from_points(one.series, first_shown(history, one.series));
    list.push_back(std::move(json));
  }
  return dumped(document) + "\n";
}

std::string csv_from_history(const history::History& history) {
  std::ostringstream out;
  const history::Series none{.points = {{}}};
  write_csv_head(row_of(none, {}), out);
  for (const auto& one : history.series) {
    const std::size_t first = first_shown(history, one.series);
    for (const auto& finding : rows_of_series(one)) {
      if (finding.point >= first || finding.kind == "silence") {
        write_csv_row(row_of(one.series, finding), out);
      }
    }
  }
  return std::move(out).str();
}

}  // namespace assay::report
