#include "features/history/csv_series.h"
#include "features/history/history.h"
#include "features/history/report/history_report.h"
#include "features/history/series.h"
#include "features/history/verified_change.h"
#include "features/repository/repository_spec.h"
#include "features/watch/stored_series.h"
#include "features/watch/verified_changes.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/output_file.h"
#include "assay/cli/terminal.h"
#include "assay/cli/verb.h"
#include "assay/record/incident.h"
#include "assay/report/writer.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

struct HistoryOptions {
  std::string repository;  ///< Repository file; empty: `file` has the series.
  std::string file;
  std::string environment;
  StoreFlags store;
  std::string only;
  std::vector<std::string> metrics;
  std::string since;
  std::string explained;
  double min_effect_percent = 1;
  std::string format = "console";
  std::string out = "-";
};

bool is_wanted(const history::Series& series, const HistoryOptions& options) {
  return (series.full_name() + " " + series.metric).contains(options.only) &&
         (options.metrics.empty() ||
          std::ranges::find(options.metrics, series.metric) != options.metrics.end());
}

/// The series that --only and --metric leave. Errors: kNotFound.
Result<std::vector<history::Series>> wanted_series(std::vector<history::Series> all,
                                                   const HistoryOptions& options) {
  std::vector<std::string> metrics;
  metrics.reserve(all.size());
  for (const auto& series : all) {
    metrics.push_back(series.metric);
  }
  for (const auto& metric : options.metrics) {
    if (std::ranges::find(metrics, metric) == metrics.end()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("no metric '{}'{}", metric, suggestion_for(metric, metrics)));
    }
  }
  std::erase_if(all, [&](const auto& series) { return !is_wanted(series, options); });
  if (all.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no series whose name contains '{}'; leave --only out to see all",
                            options.only));
  }
  return all;
}

/// Series, and what is known of their changes.
struct HistoryInput {
  std::vector<history::Series> series;
  std::vector<history::VerifiedChange> verified;
  std::vector<std::string> notes;
};

/// Reads the points that `assay watch` measured, and its incidents.
Result<HistoryInput> read_repository_history(const HistoryOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto spec, read_repository_file(options.repository));
  ASSAY_ASSIGN_OR_RETURN(const auto environment, get_environment(spec, options.environment));
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open_to_read());
  ASSAY_ASSIGN_OR_RETURN(auto revisions, store->revisions_of(spec.repository.id()));
  std::ranges::reverse(revisions);
  ASSAY_ASSIGN_OR_RETURN(
      auto stored, watch::read_series(*store, spec.repository.id(), revisions,
                                      {.metrics = options.metrics, .environment = environment.name},
                                      spec.policy.min_effect_ratio));
  if (stored.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("the store has no point of {}; assay watch {} measures some",
                            spec.repository.url, options.repository));
  }
  ASSAY_ASSIGN_OR_RETURN(auto incidents, store->incidents_of(spec.repository.id()));
  std::erase_if(incidents,
                [&](const Incident& incident) { return incident.environment != environment.name; });
  HistoryInput input{
      .series = {}, .verified = watch::verified_changes(incidents, revisions), .notes = {}};
  input.series.reserve(stored.size());
  for (auto& one : stored) {
    input.series.push_back(std::move(one.series));
  }
  return input;
}

Result<HistoryInput> read_history(const HistoryOptions& options) {
  if (!options.repository.empty()) {
    return read_repository_history(options);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto text, read_file(options.file));
  ASSAY_ASSIGN_OR_RETURN(auto found, history::series_from_csv(text, options.file));
  HistoryInput input{.series = std::move(found.series), .verified = {}, .notes = {}};
  if (found.rows_without_point > 0) {
    input.notes.push_back(fmt::format("{} no point; {}",
                                      found.rows_without_point == 1
                                          ? "1 row is"
                                          : fmt::format("{} rows are", found.rows_without_point),
                                      found.first_reason));
  }
  return input;
}

Result<std::string> text_of_history(const history::History& history, const HistoryOptions& options,
                                    const ReportStyle& style) {
  if (options.format == "json") {
    return report::json_from_history(history);
  }
  if (options.format == "csv") {
    return report::csv_from_history(history);
  }
  if (options.format == "html") {
    std::ostringstream page;
    ASSAY_RETURN_IF_ERROR(report::history_to_html(history, style, page));
    return std::move(page).str();
  }
  return report::console_from_history(history, style);
}

Status write_text(const std::string& text, const std::string& file) {
  if (file == "-") {
    write_stdout(text);
    return {};
  }
  return write_output_file(file, text);
}

ReportStyle style_of(const HistoryOptions& options) {
  return {.width_columns = terminal_width_columns(STDOUT_FILENO).value_or(120),
          .is_terminal = options.out == "-" && has_colour(STDOUT_FILENO)};
}

Result<ExitCode> execute_history(const HistoryOptions& options) {
  if (!(options.min_effect_percent > 0 && options.min_effect_percent < 100)) {
    return fail(ErrorCode::kInvalidArgument, "--min-effect is a percentage above 0 and below 100");
  }
  const auto& source = options.repository.empty() ? options.file : options.repository;
  if (source.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "name a repository file that assay watch has measured, or a CSV file with --from");
  }
  if (options.out != "-") {
    ASSAY_RETURN_IF_ERROR(check_output_file(options.out, {source}, "--out"));
  }
  ASSAY_ASSIGN_OR_RETURN(auto input, read_history(options));
  ASSAY_ASSIGN_OR_RETURN(auto series, wanted_series(std::move(input.series), options));
  auto history =
      history::make_history(std::filesystem::path(source).filename().string(), std::move(series),
                            {.min_effect = std::log1p(options.min_effect_percent / 100)});
  history::add_verified(history, std::move(input.verified));
  history.notes = std::move(input.notes);
  if (!options.since.empty()) {
    ASSAY_RETURN_IF_ERROR(history::show_since(history, options.since));
  }
  const auto style = style_of(options);
  if (!options.explained.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto position,
                           history::position_of_commit(history, options.explained));
    ASSAY_RETURN_IF_ERROR(
        write_text(report::explanation_of_commit(history, position, style), options.out));
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto text, text_of_history(history, options, style));
  ASSAY_RETURN_IF_ERROR(write_text(text, options.out));
  return ExitCode::kOk;
}

}  // namespace

Execute declare_history(CLI::App& app) {
  auto options = std::make_shared<HistoryOptions>();
  auto* repository = app.add_option("repository", options->repository,
                                    "Repository file: the series that assay watch measured");
  app.add_option("--from", options->file,
                 "CSV file with the columns commit, value and, as wanted, time, series, metric, "
                 "unit, better, environment, low, high")
      ->excludes(repository);
  app.add_option("--environment", options->environment,
                 "Environment of the repository file [default: its first]");
  options->store.declare(app);
  app.add_option("--only", options->only, "Part of a series' name and metric")->type_name("TEXT");
  app.add_option("--metric", options->metrics, "Metrics to show [default: all]")->delimiter(',');
  app.add_option("--since", options->since, "First commit to show; older ones are analyzed, too");
  app.add_option("--explain", options->explained, "Explain what is known of one commit");
  app.add_option("--min-effect", options->min_effect_percent,
                 "Percent; smaller changes do not count")
      ->capture_default_str();
  app.add_option("--format", options->format, "Format of the result: console, json, csv or html")
      ->capture_default_str()
      ->check(CLI::IsMember({"console", "json", "csv", "html"}));
  app.add_option("--out", options->out, "File for the result; - is stdout")->capture_default_str();
  return [options] { return execute_history(*options); };
}

}  // namespace assay::cli
