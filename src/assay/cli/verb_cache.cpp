#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/artifact/cache_limit.h"
#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/places.h"
#include "assay/cli/result_flags.h"
#include "assay/cli/verb.h"
#include "assay/report/format.h"
#include "assay/runs/run_overview.h"

namespace assay::cli {
namespace {

struct CacheOptions {
  ResultFlags output;
  StoreFlags store;
};

std::string entries_text(const std::vector<CacheEntry>& entries) {
  return fmt::format("{}, {}", report::counted(entries.size(), "entry", "entries"),
                     bytes_text(total_bytes(entries)));
}

std::string text_from_cache(const std::vector<CacheEntry>& entries, std::int64_t limit,
                            const std::vector<Place>& places) {
  auto text = fmt::format(
      "cache    {}, of {} that ASSAY_CACHE_LIMIT allows{}\n", entries_text(entries),
      bytes_text(limit),
      entries.empty() ? ""
                      : fmt::format("; the oldest was used {} ago",
                                    age_text(entries.front().used_unix_ns, unix_time_ns())));
  for (const auto& place : places) {
    text += fmt::format("{:<8} {}\n", place.name, text_from_place(place.path));
  }
  return text;
}

Json document_from_cache(const std::vector<CacheEntry>& entries, std::int64_t limit,
                         const std::vector<Place>& places) {
  Json document = {{"schema", "assay/cache/1"},
                   {"entries", entries.size()},
                   {"bytes", total_bytes(entries)},
                   {"limit_bytes", limit},
                   {"places", Json::array()}};
  for (const auto& place : places) {
    document["places"].push_back(
        {{"name", place.name}, {"path", place.path.string()}, {"bytes", bytes_below(place.path)}});
  }
  return document;
}

Result<ExitCode> execute_show_cache(const CacheOptions& options) {
  ASSAY_RETURN_IF_ERROR(options.output.check());
  ASSAY_ASSIGN_OR_RETURN(const auto limit, cache_limit_bytes());
  const auto entries = list_cache_entries(ArtifactCache(assay_home() / "cache"));
  const auto places = known_places(options.store);
  ASSAY_RETURN_IF_ERROR(options.output.write(
      {.console = [&](bool /*has_colour*/) { return text_from_cache(entries, limit, places); },
       .json =
           [&] { return text_from_json(document_from_cache(entries, limit, places), 2) + "\n"; }}));
  return ExitCode::kOk;
}

struct PruneCacheOptions {
  std::string limit;
  bool is_dry_run = false;
};

Result<ExitCode> execute_prune_cache(const PruneCacheOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto limit, options.limit.empty()  ? cache_limit_bytes()
                                           : options.limit == "0" ? Result<std::int64_t>(0)
                                                                  : bytes_from_text(options.limit));
  const ArtifactCache cache(assay_home() / "cache");
  if (options.is_dry_run) {
    ASSAY_ASSIGN_OR_RETURN(const auto plan, plan_cache_pruning(cache, limit));
    print_out("would remove {}; {} would be left\n", entries_text(plan.removed),
              bytes_text(plan.bytes_left));
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto pruned, prune_cache(cache, limit));
  print_out("removed {}; {} left{}\n", entries_text(pruned.removed), bytes_text(pruned.bytes_left),
            pruned.in_use.empty()
                ? ""
                : fmt::format(", of which another process uses {}", entries_text(pruned.in_use)));
  return ExitCode::kOk;
}

}  // namespace

Execute declare_cache(CLI::App& app) {
  auto shown = std::make_shared<CacheOptions>();
  auto pruned = std::make_shared<PruneCacheOptions>();
  shown->output.declare(app);
  shown->store.declare(app);
  auto* prune = app.add_subcommand("prune", "Remove the least recently used entries");
  prune->add_option(
      "--to", pruned->limit,
      "Size to prune the cache to, such as 500MB or 0 [default: ASSAY_CACHE_LIMIT, else 10GB]");
  prune->add_flag("--dry-run", pruned->is_dry_run,
                  "Print how much would be removed without removing it");
  app.require_subcommand(0, 1);
  return [&app, shown, pruned] {
    return app.got_subcommand("prune") ? execute_prune_cache(*pruned) : execute_show_cache(*shown);
  };
}

}  // namespace assay::cli
