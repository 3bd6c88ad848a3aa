#include "features/repository/builder.h"

#include "features/repository/build_cache.h"
#include "features/repository/build_entry.h"
#include "features/repository/build_key.h"
#include "features/repository/build_log.h"
#include "features/repository/build_outputs.h"
#include "features/repository/build_steps.h"
#include "features/repository/mirror.h"
#include "features/repository/place_lock.h"
#include "features/repository/repository_spec.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/remove_tree.h"
#include "assay/base/result.h"
#include "assay/device/device_lock.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// Folders of one environment, the same for every build.
struct BuildPlace {
  stdfs::path folder;
  [[nodiscard]] stdfs::path source() const { return folder / "source"; }
  [[nodiscard]] stdfs::path work() const { return folder / "work"; }
  [[nodiscard]] stdfs::path home() const { return folder / "home"; }
  [[nodiscard]] stdfs::path temporary() const { return folder / "tmp"; }
  [[nodiscard]] stdfs::path lock() const { return folder / "lock"; }
};

/// A build that ends well and writes nothing would hand out the outputs of the one before.
Status remove_outputs(const BuildPlace& place, const BuildEnvironment& environment) {
  for (const auto& [name, path] : environment.outputs) {
    if (const auto removed = remove_tree(place.work() / path); !removed) {
      return fail_with_context(removed.error(), "the output of an earlier build");
    }
  }
  return {};
}

std::string with_places(std::string text, const BuildPlace& place) {
  const std::array<std::pair<std::string, std::string>, 3> values = {
      {{"{source}", place.source().string()},
       {"{work}", place.work().string()},
       {"{jobs}", std::to_string(std::max(1U, std::thread::hardware_concurrency()))}}};
  for (const auto& [name, value] : values) {
    for (auto at = text.find(name); at != std::string::npos;
         at = text.find(name, at + value.size())) {
      text.replace(at, name.size(), value);
    }
  }
  return text;
}

/// How the user's programs reach the network: proxies, certificates and pip's settings. They are
/// not in the key of a build: where a file comes from does not change it.
void add_variables_of_network(std::map<std::string, std::string>& variables) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy",
       "no_proxy", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"});
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    const bool is_wanted =
        name.starts_with("PIP_") || std::ranges::find(kNames, name) != kNames.end();
    if (is_wanted && name.size() < text.size()) {
      variables.emplace(name, text.substr(name.size() + 1));
    }
  }
  const char* home = std::getenv("HOME");
  const auto settings = stdfs::path(home == nullptr ? "/" : home) / ".config/pip/pip.conf";
  if (stdfs::exists(settings)) {
    variables.emplace("PIP_CONFIG_FILE", settings.string());
  }
}

/// All variables that a build sees. A fixed date keeps __DATE__ out of the outputs.
std::map<std::string, std::string> variables_of_build(const BuildEnvironment& environment,
                                                      const BuildPlace& place) {
  const char* path = std::getenv("PATH");
  std::map<std::string, std::string> variables = {
      {"PATH", path == nullptr ? "/usr/bin:/bin" : path},
      {"HOME", place.home().string()},
      {"TMPDIR", place.temporary().string()},
      {"LANG", "C.UTF-8"},
      {"LC_ALL", "C.UTF-8"},
      {"SOURCE_DATE_EPOCH", "315532800"}};
  if (environment.has_network) {
    add_variables_of_network(variables);
  }
  for (const auto& [name, value] : environment.env) {
    variables[name] = with_places(value, place);
  }
  return variables;
}

BuildSteps steps_of(const RevisionBuildRequest& request, const BuildPlace& place,
                    const stdfs::path& staging, int lock) {
  BuildSteps steps{.commands = request.environment.build,
                   .env = variables_of_build(request.environment, place),
                   .folder = place.work(),
                   .log = staging / "build.log",
                   .timeout_ns = request.environment.timeout_ns,
                   .has_network = request.environment.has_network,
                   .keep_going = request.keep_going,
                   .kept = {lock}};
  for (auto& argv : steps.commands) {
    for (auto& word : argv) {
      word = with_places(std::move(word), place);
    }
  }
  return steps;
}

/// The folders are empty before and after a build: what it leaves would fill the disk.
Status empty_folders(const BuildPlace& place, const BuildEnvironment& environment) {
  ASSAY_RETURN_IF_ERROR(environment.reuses_work ? make_folder(place.work())
                                                : empty_folder(place.work()));
  ASSAY_RETURN_IF_ERROR(empty_folder(place.home()));
  ASSAY_RETURN_IF_ERROR(empty_folder(place.temporary()));
  return remove_outputs(place, environment);
}

/// Runs the steps, a second time where something outside has killed them at the first.
Result<StepsEnd> run_steps(const BuildPlace& place, const RevisionBuildRequest& request,
                           const BuildSteps& steps, DeviceShare& share) {
  ASSAY_ASSIGN_OR_RETURN(auto end, run_build_steps(steps, share));
  if (end.was_killed) {
    log_line(LogLevel::kWarning,
             fmt::format("{}, killed from outside or for want of memory; it is built once more",
                         end.failure));
    ASSAY_RETURN_IF_ERROR(empty_folders(place, request.environment));
    ASSAY_ASSIGN_OR_RETURN(end, run_build_steps(steps, share));
  }
  return end;
}

/// Runs the steps and moves the outcome, gathered in `staging`, into the cache.
Status build_and_adopt(const BuildPlace& place, const RevisionBuildRequest& request,
                       const BuildCache& cache, BuildEntry entry, const stdfs::path& staging,
                       int lock) {
  ASSAY_RETURN_IF_ERROR(write_file_atomically(staging / "build.log", ""));
  ASSAY_ASSIGN_OR_RETURN(
      auto share, DeviceShare::open("local", {.work = fmt::format("building {}@{}", entry.engine,
                                                                  short_hash(entry.revision)),
                                              .folder = request.lock_folder}));
  ASSAY_ASSIGN_OR_RETURN(const auto end,
                         run_steps(place, request, steps_of(request, place, staging, lock), share));
  entry.was_killed = end.was_killed;
  entry.exceeded_ns = end.is_late ? request.environment.timeout_ns : 0;
  entry.seconds = end.seconds;
  entry.reason = end.failure;
  if (const auto fault = fault_in_log(staging / "build.log", place.source());
      !entry.reason.empty() && !fault.empty()) {
    entry.reason += ": " + fault;
  }
  if (entry.reason.empty()) {
    ASSAY_ASSIGN_OR_RETURN(auto outputs,
                           collect_outputs(request.environment.outputs, place.work(), staging));
    entry.reason = outputs.fault;
    entry.files = outputs.fault.empty() ? std::move(outputs.files) : std::vector<ArtifactFile>();
    entry.output_digest = outputs.digest;
  }
  entry.outcome = entry.reason.empty() ? BuildOutcome::kBuilt : BuildOutcome::kFailed;
  entry.built_unix_ns = unix_time_ns();
  ASSAY_RETURN_IF_ERROR(write_build_document(entry, staging));
  return cache.adopt(entry.key, staging);
}

/// Builds in `place`, which is locked.
Status build_in(const BuildPlace& place, const RevisionBuildRequest& request,
                const BuildCache& cache, const BuildEntry& entry, int lock) {
  ASSAY_RETURN_IF_ERROR(empty_folders(place, request.environment));
  ASSAY_ASSIGN_OR_RETURN(const auto staging, cache.make_staging(entry.key));
  const auto status = build_and_adopt(place, request, cache, entry, staging, lock);
  const auto removed = remove_tree(staging);
  const auto emptied = empty_folders(place, request.environment);
  ASSAY_RETURN_IF_ERROR(status);
  ASSAY_RETURN_IF_ERROR(removed);
  return emptied;
}

/// A build that is there, but for one that was killed or had less time: the next one may go well.
Result<std::optional<BuildEntry>> find_settled(const BuildCache& cache, const std::string& key,
                                               const BuildEnvironment& environment) {
  ASSAY_ASSIGN_OR_RETURN(auto found, cache.find(key));
  const bool is_settled = found && !found->was_killed &&
                          (found->exceeded_ns == 0 || found->exceeded_ns >= environment.timeout_ns);
  return is_settled ? std::move(found) : std::nullopt;
}

Result<BuildEntry> entry_to_build(Mirror& mirror, const BuildCache& cache,
                                  const std::string& revision,
                                  const RevisionBuildRequest& request) {
  const auto& environment = request.environment;
  BuildEntry entry{.engine = request.spec.repository.engine,
                   .revision = revision,
                   .environment = environment.name,
                   .runner = environment.runner,
                   .tools = tool_versions(environment),
                   .outputs = environment.outputs};
  ASSAY_ASSIGN_OR_RETURN(const auto content, mirror.content_digest(revision, request.spec.paths));
  entry.key = build_key(request.spec.repository, content, environment, entry.tools);
  entry.folder = cache.folder_of(entry.key);
  return entry;
}

}  // namespace

Result<BuiltRevision> build_revision(Mirror& mirror, const BuildCache& cache,
                                     const std::string& revision,
                                     const RevisionBuildRequest& wanted_request) {
  const auto environment = with_state(wanted_request.spec, wanted_request.environment, revision);
  const RevisionBuildRequest request{.spec = wanted_request.spec,
                                     .environment = environment,
                                     .home = wanted_request.home,
                                     .is_rebuild = wanted_request.is_rebuild,
                                     .keep_going = wanted_request.keep_going,
                                     .lock_folder = wanted_request.lock_folder};
  ASSAY_ASSIGN_OR_RETURN(const auto wanted, entry_to_build(mirror, cache, revision, request));
  if (!request.is_rebuild) {
    ASSAY_ASSIGN_OR_RETURN(auto found, find_settled(cache, wanted.key, environment));
    if (found) {
      return BuiltRevision{.entry = *std::move(found), .is_cached = true};
    }
  }
  const BuildPlace place{repository_folder(request.home, request.spec.repository) /
                         request.environment.name};
  ASSAY_ASSIGN_OR_RETURN(const auto lock, PlaceLock::acquire(place.lock(), request.keep_going));
  if (lock.was_waited_for()) {
    // Whoever built here may have built it.
    ASSAY_ASSIGN_OR_RETURN(auto found, find_settled(cache, wanted.key, environment));
    if (found) {
      return BuiltRevision{.entry = *std::move(found), .is_cached = true};
    }
  }
  ASSAY_RETURN_IF_ERROR(mirror.check_out(revision, place.source()));
  ASSAY_RETURN_IF_ERROR(build_in(place, request, cache, wanted, lock.descriptor()));
  ASSAY_ASSIGN_OR_RETURN(auto built, cache.find(wanted.key));
  if (!built) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("the build of {} is gone from the cache; build it again", revision));
  }
  return BuiltRevision{.entry = *std::move(built)};
}

RevisionBuild record_of_build(const RepositorySpec& spec, const BuildEnvironment& environment,
                              const std::string& revision, const BuildEntry& entry,
                              const RevisionBuild* parent) {
  RevisionBuild build{.repository = spec.repository.id(),
                      .revision = revision,
                      .environment = environment.name,
                      .engine = spec.repository.engine,
                      .label = label_of_build(spec, environment, revision),
                      .key = entry.key,
                      .outcome = entry.outcome,
                      .reason = entry.reason,
                      .tools = entry.tools,
                      .seconds = entry.seconds,
                      .output_digest = entry.output_digest,
                      .log = entry.log().string(),
                      .built_unix_ns = entry.built_unix_ns};
  const bool is_same = parent != nullptr && !entry.output_digest.empty() &&
                       parent->output_digest == entry.output_digest;
  if (is_same) {
    build.same_as = parent->same_as.empty() ? parent->revision : parent->same_as;
  }
  return build;
}

}  // namespace assay
