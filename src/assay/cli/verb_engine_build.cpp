#include "features/repository/build_cache.h"
#include "features/repository/builder.h"
#include "features/repository/engine_registration.h"
#include "features/repository/mirror.h"
#include "features/repository/repository_spec.h"
#include "features/repository/wheel_spec.h"

#include <algorithm>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/configured.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/verb.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

struct EngineBuildOptions {
  std::string file;
  std::vector<std::string> revisions;
  std::string environment;
  bool is_rebuild = false;
  StoreFlags store;
};

/// One repository in one environment, while its revisions are built.
struct BuildingPlace {
  const RepositorySpec& spec;
  const BuildEnvironment& environment;
  const EngineBuildOptions& options;
  Mirror& mirror;
  ResultStore& store;
};

/// The newest build of a revision's parent that the store has; nullptr: it has none.
const RevisionBuild* find_build_of_parent(const std::vector<RevisionBuild>& builds,
                                          const Revision& revision,
                                          const std::string& environment) {
  const auto found = std::ranges::find_if(builds, [&](const RevisionBuild& build) {
    return build.environment == environment && !revision.parents.empty() &&
           build.revision == revision.parents.front();
  });
  return found == builds.end() ? nullptr : &*found;
}

std::string text_from_build(const RevisionBuild& build, bool is_cached, bool has_parent) {
  if (build.outcome == BuildOutcome::kFailed) {
    return fmt::format("failed{}: {}; log: {}", is_cached ? " before" : "", build.reason,
                       build.log);
  }
  constexpr double kNsInSecond = 1e9;
  auto text = is_cached
                  ? std::string("is there")
                  : fmt::format("built in {}", text_from_duration_ns(build.seconds * kNsInSecond));
  if (!build.same_as.empty()) {
    text += fmt::format("; same outputs as {}", short_hash(build.same_as));
  } else if (has_parent) {
    text += "; outputs differ from its parent's";
  }
  return text;
}

/// Builds one revision, and notes and registers it. False: it failed to build.
Result<bool> build_one(const BuildingPlace& place, const Revision& revision) {
  // A new object for each revision: the builds of an object stay while it lives.
  const BuildCache cache(builds_folder(assay_home()));
  ASSAY_ASSIGN_OR_RETURN(const auto built,
                         build_revision(place.mirror, cache, revision.hash,
                                        {.spec = place.spec,
                                         .environment = place.environment,
                                         .home = assay_home(),
                                         .is_rebuild = place.options.is_rebuild,
                                         .keep_going = [] { return !is_interrupted(); }}));
  ASSAY_ASSIGN_OR_RETURN(const auto known,
                         place.store.engine_builds_of(place.spec.repository.id()));
  const auto* const parent = find_build_of_parent(known, revision, place.environment.name);
  const auto record =
      record_of_build(place.spec, place.environment, revision.hash, built.entry, parent);
  ASSAY_RETURN_IF_ERROR(place.store.add_engine_build(record));
  print_out("{}  {}  {}\n", record.reference(),
            text_from_build(record, built.is_cached, parent != nullptr), revision.subject);
  if (record.outcome == BuildOutcome::kFailed) {
    return false;
  }
  ASSAY_RETURN_IF_ERROR(
      register_revision(place.spec, place.environment, revision.hash, built.entry, assay_home()));
  return true;
}

/// The newest build that was asked for, and the reference of the policy, stay in the cache.
Status pin_builds(const BuildingPlace& place) {
  constexpr std::string_view kPinned = "pinned:";
  const auto id = place.spec.repository.id();
  ASSAY_ASSIGN_OR_RETURN(const auto builds, place.store.engine_builds_of(id));
  const BuildCache cache(builds_folder(assay_home()));
  const auto pin = [&](std::string_view name, const std::string& revision) -> Status {
    const auto found = std::ranges::find_if(builds, [&](const RevisionBuild& build) {
      return build.revision == revision && build.environment == place.environment.name;
    });
    return found == builds.end()
               ? Status()
               : cache.pin(fmt::format("{}-{}-{}", id, place.environment.name, name), found->key);
  };
  const auto& reference = place.spec.policy.reference;
  if (reference.starts_with(kPinned)) {
    ASSAY_ASSIGN_OR_RETURN(const auto hash, place.mirror.resolve(reference.substr(kPinned.size())));
    ASSAY_RETURN_IF_ERROR(pin("reference", hash));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto newest, place.mirror.resolve("HEAD"));
  return pin("newest", newest);
}

Status keep_builds_within_limit(const RepositorySpec& spec) {
  const BuildCache cache(builds_folder(assay_home()));
  ASSAY_ASSIGN_OR_RETURN(const auto pruned, cache.prune(spec.policy.keep_builds_bytes, {}));
  if (!pruned.removed.empty()) {
    log_line(LogLevel::kInfo,
             fmt::format("removed {} of the least recently used builds: together they exceeded {}",
                         pruned.removed.size(),
                         text_from_bytes(static_cast<double>(spec.policy.keep_builds_bytes))));
    ASSAY_RETURN_IF_ERROR(unregister_pruned(assay_home()));
  }
  return {};
}

Status fetch(Mirror& mirror) {
  const auto update = mirror.update();
  if (!update) {
    return std::unexpected(update.error());
  }
  for (const auto& branch : update->rewritten) {
    log_line(LogLevel::kWarning,
             fmt::format("branch '{}' was force-pushed; its old commits are kept", branch));
  }
  return {};
}

Result<ExitCode> execute_engine_build(const EngineBuildOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto spec, read_configured_repository(options.file));
  use_python(default_python(), spec);
  ASSAY_ASSIGN_OR_RETURN(const auto environment, get_environment(spec, options.environment));
  catch_interrupts();
  const auto mirror =
      make_mirror(spec, repository_folder(assay_home(), spec.repository) / "mirror");
  ASSAY_RETURN_IF_ERROR(fetch(*mirror));
  ASSAY_ASSIGN_OR_RETURN(const auto revisions, revisions_from_names(*mirror, options.revisions));
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open());
  ASSAY_RETURN_IF_ERROR(store->add_repository(spec.repository));
  ASSAY_RETURN_IF_ERROR(store->add_revisions(revisions));
  const BuildingPlace place{.spec = spec,
                            .environment = environment,
                            .options = options,
                            .mirror = *mirror,
                            .store = *store};
  bool has_failed = false;
  for (const auto& revision : revisions) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_built, build_one(place, revision));
    has_failed = has_failed || !is_built;
  }
  ASSAY_RETURN_IF_ERROR(pin_builds(place));
  ASSAY_RETURN_IF_ERROR(keep_builds_within_limit(spec));
  return has_failed ? ExitCode::kFindings : ExitCode::kOk;
}

}  // namespace

Execute declare_engine_build(CLI::App& app) {
  auto options = std::make_shared<EngineBuildOptions>();
  auto* build = app.add_subcommand("build", "Build an engine from commits of its repository");
  build->add_option("file", options->file, "Repository file")->required();
  build
      ->add_option("commits", options->revisions,
                   "Commits: a hash, a branch, a tag, HEAD~3, or A..B for those after A up to B")
      ->required();
  build->add_option("--environment", options->environment,
                    "Environment of the repository file [default: its first]");
  build->add_flag("--rebuild", options->is_rebuild,
                  "Build even if there is a build, or a failed one");
  options->store.declare(*build);
  return [options] { return execute_engine_build(*options); };
}

}  // namespace assay::cli
