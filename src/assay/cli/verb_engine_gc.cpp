#include "features/repository/build_cache.h"
#include "features/repository/engine_registration.h"

#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"
#include "assay/record/incident.h"
#include "assay/record/revision_build.h"
#include "assay/report/format.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

struct EngineGcOptions {
  std::string limit = "10GB";
  StoreFlags store;
};

/// The ends of incidents that are not closed.
Result<std::set<std::string>> revisions_in_question(ResultStore& store,
                                                    const std::string& repository) {
  std::set<std::string> revisions;
  ASSAY_ASSIGN_OR_RETURN(const auto incidents, store.incidents_of(repository));
  for (const auto& incident : incidents) {
    if (!is_closed(incident.state)) {
      revisions.insert({incident.good, incident.bad, incident.culprit});
    }
  }
  return revisions;
}

/// Keys of the builds that open incidents will ask for.
Result<std::set<std::string>> keys_in_question(const StoreFlags& flags) {
  std::set<std::string> keys;
  const auto store = flags.open_to_read();
  if (!store) {
    return store.error().code == ErrorCode::kNotFound
               ? Result<std::set<std::string>>(keys)
               : Result<std::set<std::string>>(std::unexpected(store.error()));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto repositories, (*store)->repositories());
  for (const auto& repository : repositories) {
    ASSAY_ASSIGN_OR_RETURN(const auto revisions, revisions_in_question(**store, repository.id()));
    ASSAY_ASSIGN_OR_RETURN(const auto builds, (*store)->engine_builds_of(repository.id()));
    for (const auto& build : builds) {
      if (revisions.contains(build.revision)) {
        keys.insert(build.key);
      }
    }
  }
  return keys;
}

std::string builds_text(const std::vector<CachedBuild>& builds) {
  double bytes = 0;
  for (const auto& build : builds) {
    bytes += static_cast<double>(build.bytes);
  }
  return fmt::format("{}, {}", report::counted(builds.size(), "build"), text_from_bytes(bytes));
}

Result<ExitCode> execute_engine_gc(const EngineGcOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto limit, options.limit == "0" ? Result<std::int64_t>(0)
                                                                : bytes_from_text(options.limit));
  ASSAY_ASSIGN_OR_RETURN(const auto needed, keys_in_question(options.store));
  const BuildCache cache(builds_folder(assay_home()));
  ASSAY_ASSIGN_OR_RETURN(const auto pruned, cache.prune(limit, needed));
  ASSAY_ASSIGN_OR_RETURN(const auto struck_off, unregister_pruned(assay_home()));
  print_out("removed {}; {} left{}\n", builds_text(pruned.removed),
            text_from_bytes(static_cast<double>(pruned.bytes_left)),
            pruned.kept.empty()
                ? ""
                : fmt::format(", of which {} are in use or needed", builds_text(pruned.kept)));
  for (const auto& reference : struck_off) {
    print_out("{} is removed\n", reference);
  }
  return ExitCode::kOk;
}

}  // namespace

Execute declare_engine_gc(CLI::App& app) {
  auto options = std::make_shared<EngineGcOptions>();
  auto* gc = app.add_subcommand("gc", "Remove the least recently used builds of commits");
  gc->add_option("--max", options->limit, "Size that the builds may take, such as 2GB or 0")
      ->capture_default_str();
  options->store.declare(*gc);
  return [options] { return execute_engine_gc(*options); };
}

}  // namespace assay::cli
