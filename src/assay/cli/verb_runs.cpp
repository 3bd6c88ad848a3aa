#include "assay/cli/verb_runs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "assay/base/clock.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/labels.h"
#include "assay/cli/result_flags.h"
#include "assay/cli/run_filter_flags.h"
#include "assay/cli/terminal.h"
#include "assay/cli/verb.h"
#include "assay/runs/removal.h"
#include "assay/runs/run_overview.h"
#include "assay/store/result_store.h"
#include "assay/store/store_address.h"

namespace assay::cli {
namespace {

struct ListRunsOptions {
  RunFilterFlags filter;
  int limit = 20;
  ResultFlags output;
  StoreFlags store;
};

std::string console_table(const std::vector<RunOverview>& runs) {
  constexpr int kWide = 160;
  const auto width = terminal_width_columns(STDOUT_FILENO).value_or(kWide);
  return runs.empty() ? ""
                      : table_from_overviews(runs, unix_time_ns(), static_cast<std::size_t>(width));
}

/// `console` makes the text of people from `runs`.
Status write_overviews(const ResultFlags& output, const std::vector<RunOverview>& runs,
                       const std::function<std::string()>& console) {
  return output.write(
      {.console = [&](bool /*has_colour*/) { return printable_lines(console()); },
       .json = [&] { return text_from_json(document_from_overviews(runs), 2) + "\n"; }});
}

Result<ExitCode> execute_list_runs(const ListRunsOptions& options) {
  ASSAY_RETURN_IF_ERROR(options.output.check());
  ASSAY_ASSIGN_OR_RETURN(const auto filter, options.filter.filter(options.limit));
  ASSAY_RETURN_IF_ERROR(show_runs(options.store, filter, options.output));
  return ExitCode::kOk;
}

struct ShowRunOptions {
  std::string run;
  ResultFlags output;
  StoreFlags store;
};

Result<ExitCode> execute_show_run(const ShowRunOptions& options) {
  ASSAY_RETURN_IF_ERROR(options.output.check());
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open_to_read());
  ASSAY_ASSIGN_OR_RETURN(auto listing, get_listing(*store, options.run));
  const std::vector<RunOverview> runs = {overview_from_listing(*store, std::move(listing))};
  ASSAY_RETURN_IF_ERROR(write_overviews(
      options.output, runs, [&runs] { return text_from_overview(runs.front(), unix_time_ns()); }));
  return ExitCode::kOk;
}

Execute declare_show_run(CLI::App& app) {
  auto options = std::make_shared<ShowRunOptions>();
  auto* show = app.add_subcommand("show", "Show one run in detail");
  show->add_option("run", options->run, kRunReferences)->required();
  options->output.declare(*show);
  options->store.declare(*show);
  return [options] { return execute_show_run(*options); };
}

struct TagRunOptions {
  std::string run;
  std::vector<std::string> labels;
  std::vector<std::string> removed;
  StoreFlags store;
};

Result<ExitCode> execute_tag_run(const TagRunOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto labels, labels_from_texts(options.labels, "label"));
  if (labels.empty() && options.removed.empty()) {
    return fail(ErrorCode::kInvalidArgument, "give a label, key=value, or --remove KEY");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open_existing());
  ASSAY_ASSIGN_OR_RETURN(const auto run, store->get_run(options.run));
  ASSAY_RETURN_IF_ERROR(store->tag_run(run.id, labels, options.removed));
  ASSAY_ASSIGN_OR_RETURN(const auto tagged, store->get_run(run.id));
  print_out("{}  {}\n", tagged.id,
            tagged.labels.empty() ? "no label" : text_from_labels(tagged.labels));
  return ExitCode::kOk;
}

}  // namespace

/// The default store before its first run, or a database: a file that is named has to be there.
bool is_empty_place(const StoreFlags& flags, const Error& error) {
  return error.code == ErrorCode::kNotFound &&
         (flags.path.empty() || is_database_url(flags.address()));
}

Result<std::vector<RunOverview>> find_overviews(const StoreFlags& flags, const RunFilter& filter) {
  const auto store = flags.open_to_read();
  if (!store && is_empty_place(flags, store.error())) {
    return std::vector<RunOverview>();
  }
  if (!store) {
    return std::unexpected(store.error());
  }
  ASSAY_ASSIGN_OR_RETURN(auto listings, (*store)->list_runs(filter));
  std::vector<RunOverview> runs;
  runs.reserve(listings.size());
  for (auto& listing : listings) {
    runs.push_back(overview_from_listing(**store, std::move(listing)));
  }
  return runs;
}

Status show_runs(const StoreFlags& flags, const RunFilter& filter, const ResultFlags& output) {
  ASSAY_ASSIGN_OR_RETURN(const auto runs, find_overviews(flags, filter));
  if (runs.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto any, find_overviews(flags, {.limit = 1}));
    log_line(LogLevel::kInfo,
             any.empty() ? fmt::format("{} has no runs yet; assay bench and assay run make some",
                                       flags.address())
                         : "no such run in " + flags.address());
  }
  return write_overviews(output, runs, [&runs] { return console_table(runs); });
}

Execute declare_tag_run(CLI::App& app) {
  auto options = std::make_shared<TagRunOptions>();
  auto* tag = app.add_subcommand("tag", "Set or remove labels of a run");
  tag->add_option("run", options->run, kRunReferences)->required();
  tag->add_option("labels", options->labels, "Labels to set: KEY=VALUE");
  tag->add_option("--remove", options->removed, "Key of a label to remove");
  options->store.declare(*tag);
  return [options] { return execute_tag_run(*options); };
}

Execute declare_runs(CLI::App& app) {
  auto options = std::make_shared<ListRunsOptions>();
  options->filter.declare(app);
  declare_limit(app, options->limit, "Number of runs to show, newest first; -1 shows all");
  options->output.declare(app);
  options->store.declare(app);
  std::vector<std::pair<const char*, Execute>> verbs;
  verbs.emplace_back("show", declare_show_run(app));
  verbs.emplace_back("tag", declare_tag_run(app));
  verbs.emplace_back("rm", declare_remove_runs(app));
  verbs.emplace_back("prune", declare_prune_runs(app));
  app.require_subcommand(0, 1);
  return [&app, verbs, options] {
    const auto named = [&app](const auto& verb) { return app.got_subcommand(verb.first); };
    const auto found = std::ranges::find_if(verbs, named);
    return found == verbs.end() ? execute_list_runs(*options) : found->second();
  };
}

}  // namespace assay::cli
