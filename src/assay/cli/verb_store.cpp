#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/output_file.h"
#include "assay/cli/places.h"
#include "assay/cli/result_flags.h"
#include "assay/cli/run_filter_flags.h"
#include "assay/cli/verb.h"
#include "assay/cli/verb_runs.h"
#include "assay/report/format.h"
#include "assay/runs/run_overview.h"
#include "assay/store/grant.h"
#include "assay/store/result_store.h"
#include "assay/store/store_address.h"

namespace assay::cli {
namespace {

std::string text_from_info(const std::string& address, const StoreInfo& info) {
  const auto now = unix_time_ns();
  auto text = fmt::format("store   {}\nsize    {}, schema {}\nruns    {}", address,
                          bytes_text(info.bytes), info.schema, info.runs);
  if (info.runs > 0) {
    text += fmt::format(", {} of them unfinished; the newest began {} ago, the oldest {} ago",
                        info.unfinished_runs, age_text(info.newest_unix_ns, now),
                        age_text(info.oldest_unix_ns, now));
  }
  text += "\n\n";
  for (const auto& table : info.tables) {
    if (table.rows > 0) {
      text += fmt::format("{:<20} {:>10} rows {:>12}\n", table.name, table.rows,
                          bytes_text(table.bytes));
    }
  }
  return text;
}

Json document_from_info(const std::string& address, const StoreInfo& info) {
  Json document = {{"schema", "assay/store/1"},
                   {"address", address},
                   {"store_schema", info.schema},
                   {"bytes", info.bytes},
                   {"runs", info.runs},
                   {"unfinished_runs", info.unfinished_runs},
                   {"oldest_unix_ns", info.oldest_unix_ns},
                   {"newest_unix_ns", info.newest_unix_ns},
                   {"tables", Json::array()}};
  for (const auto& table : info.tables) {
    document["tables"].push_back(
        {{"name", table.name}, {"rows", table.rows}, {"bytes", table.bytes}});
  }
  return document;
}

struct StoreInfoOptions {
  ResultFlags output;
  StoreFlags store;
};

Result<ExitCode> execute_store_info(const StoreInfoOptions& options) {
  ASSAY_RETURN_IF_ERROR(options.output.check());
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open_to_read());
  ASSAY_ASSIGN_OR_RETURN(const auto info, store->info());
  const auto address = options.store.address();
  ASSAY_RETURN_IF_ERROR(options.output.write(
      {.console = [&](bool /*has_colour*/) { return text_from_info(address, info); },
       .json = [&] { return text_from_json(document_from_info(address, info), 2) + "\n"; }}));
  return ExitCode::kOk;
}

Execute declare_store_info(CLI::App& app) {
  auto options = std::make_shared<StoreInfoOptions>();
  auto* info = app.add_subcommand("info", "Show the size of a store, its tables and its runs");
  options->output.declare(*info);
  options->store.declare(*info);
  return [options] { return execute_store_info(*options); };
}

Result<ExitCode> execute_vacuum(const StoreFlags& flags) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, flags.open_existing());
  ASSAY_ASSIGN_OR_RETURN(const auto freed, store->vacuum());
  print_out("the store takes {} less\n", bytes_text(freed));
  return ExitCode::kOk;
}

Execute declare_vacuum(CLI::App& app) {
  auto flags = std::make_shared<StoreFlags>();
  auto* vacuum =
      app.add_subcommand("vacuum", "Give the room of removed runs back to the file system");
  flags->declare(*vacuum);
  return [flags] { return execute_vacuum(*flags); };
}

struct ExportOptions {
  std::vector<std::string> runs;
  std::vector<std::string> labels;
  std::string out;
  StoreFlags store;
};

/// Ids of the runs that are named, and of those with all labels, each once. Errors:
/// kInvalidArgument for none of both, kNotFound.
Result<std::vector<std::string>> exported_runs(ResultStore& store, const ExportOptions& options) {
  if (options.runs.empty() && options.labels.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "say which runs to export: latest, or --label branch=main");
  }
  std::set<std::string> ids;
  for (const auto& reference : options.runs) {
    ASSAY_ASSIGN_OR_RETURN(const auto run, store.get_run(reference));
    ids.insert(run.id);
  }
  if (!options.labels.empty()) {
    const RunFilterFlags flags{.texts = {}, .labels = options.labels, .purpose = {}, .model = {}};
    ASSAY_ASSIGN_OR_RETURN(const auto filter, flags.filter(/*limit=*/-1));
    ASSAY_ASSIGN_OR_RETURN(const auto listings, store.list_runs(filter));
    for (const auto& listing : listings) {
      ids.insert(listing.run.id);
    }
  }
  return ids.empty() ? fail(ErrorCode::kNotFound, "no run has these labels; see `assay runs`")
                     : Result<std::vector<std::string>>({ids.begin(), ids.end()});
}

Result<ExitCode> execute_export(const ExportOptions& options) {
  ASSAY_RETURN_IF_ERROR(check_parent_folder(options.out, "--out"));
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open_to_read());
  ASSAY_ASSIGN_OR_RETURN(const auto ids, exported_runs(*store, options));
  ASSAY_RETURN_IF_ERROR(store->export_runs(ids, options.out));
  print_out("{}: {}; `assay merge {}` adds them to another store\n", options.out,
            report::counted(ids.size(), "run"), options.out);
  return ExitCode::kOk;
}

Execute declare_export(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  auto* part = app.add_subcommand("export", "Copy runs to a store of their own");
  part->add_option("runs", options->runs, kRunReferences);
  part->add_option("--label", options->labels,
                   "Select runs with this label: KEY=VALUE, or KEY for any value");
  part->add_option("--out", options->out, "New file for the store")->required();
  options->store.declare(*part);
  return [options] { return execute_export(*options); };
}

struct GrantOptions {
  std::string role;
  std::string user;
  StoreFlags store;
};

Result<ExitCode> execute_grant(const GrantOptions& options) {
  const auto address = options.store.address();
  if (!is_database_url(address)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is a file, whose mode says who may read it; --store "
                            "postgresql://… names a store with users",
                            address));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto role, enum_from_name<StoreRole>(options.role));
  ASSAY_RETURN_IF_ERROR(grant_role(address, role, options.user));
  print_out("{} is a {} of {}\n", options.user, options.role, address);
  return ExitCode::kOk;
}

Execute declare_grant(CLI::App& app) {
  auto options = std::make_shared<GrantOptions>();
  auto* grant = app.add_subcommand("grant", "Let a user of a database server use the store");
  grant
      ->add_option("role", options->role,
                   "reader: reads; worker: reads, adds and merges, and removes nothing")
      ->required()
      ->check(CLI::IsMember({"reader", "worker"}));
  grant->add_option("user", options->user, "User of the database server")->required();
  options->store.declare(*grant);
  return [options] { return execute_grant(*options); };
}

}  // namespace

Execute declare_store(CLI::App& app) {
  std::vector<std::pair<const char*, Execute>> verbs;
  verbs.emplace_back("info", declare_store_info(app));
  verbs.emplace_back("prune", declare_prune_runs(app));
  verbs.emplace_back("tag", declare_tag_run(app));
  verbs.emplace_back("export", declare_export(app));
  verbs.emplace_back("vacuum", declare_vacuum(app));
  verbs.emplace_back("grant", declare_grant(app));
  app.require_subcommand(1);
  return [&app, verbs] {
    const auto named = [&app](const auto& verb) { return app.got_subcommand(verb.first); };
    return std::ranges::find_if(verbs, named)->second();
  };
}

}  // namespace assay::cli
