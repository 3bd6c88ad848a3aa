#include "assay/artifact/artifact_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/aot_servers.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/cache_limit.h"
#include "assay/artifact/dependencies.h"
#include "assay/artifact/job_box.h"
#include "assay/artifact/job_requests.h"
#include "assay/artifact/server_jobs.h"
#include "assay/artifact/toolchain.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/remove_tree.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/record/artifact_role.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/conclusion.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"
#include "assay/spec/named_files.h"
#include "assay/spec/program_files.h"
#include "assay/spec/program_format.h"
#include "assay/spec/reference_kind.h"
#include "assay/tensor/safetensors.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// One thing to make: the request for the server and where its result belongs.
struct Job {
  std::string key;
  bool is_artifact = true;
  bool is_rebuilt = false;  ///< Whatever the cache has.
  std::string label;
  stdfs::path staging;
  Json request;
  Toolchain toolchain;  ///< The toolchain that makes it.
  SandboxRequest box;
  DependencyScope scope;
};

bool needs_reference(const Case& cell, const std::string& kind) {
  if (engine_of_kind(kind)) {
    return false;  // A launch makes it.
  }
  if (kind == kFileKind) {
    return has_expected_outputs(cell);
  }
  if (!cell.pieces.empty() && kind != "float32" && kind != "qdq") {
    return false;
  }
  return kind != "qdq" || !cell.recipe.quantization.is_null();
}

/// Safetensors with "<sample>.<index>", which a runner reads by itself; also what it cannot read,
/// as it says why.
bool is_read_by_runner(const InputSet& inputs) {
  if (!inputs.file.ends_with(".safetensors")) {
    return false;
  }
  const auto tensors = read_safetensors(inputs.file);
  return !tensors || sample_from_tensors(*tensors, 0);
}

/// True if only Python can read them: the inputs or the program stand in a file of another format,
/// sizes are to be bound, or several engines must get the same.
bool needs_stimulus(const Case& cell, const std::vector<std::string>& kinds) {
  const auto is_engine = [](const std::string& kind) { return engine_of_kind(kind).has_value(); };
  const bool is_bound = !cell.model.inputs.empty() || !cell.model.dimensions.empty();
  return is_bound || is_bundle(cell.model) || !cell.expected_file.empty() ||
         std::ranges::any_of(kinds, is_engine) ||
         (cell.inputs.generator == "file" && !is_read_by_runner(cell.inputs));
}

bool is_named(const std::vector<std::string>& kinds, std::string_view kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

/// Looks one key up; a damaged entry is logged and made again.
template <class Found>
bool take_from_cache(Result<std::optional<Found>> found, std::optional<Found>& target) {
  if (!found) {
    log_line(LogLevel::kWarning, found.error().message);
    return false;
  }
  target = std::move(*found);
  return target.has_value();
}

class Planner {
 public:
  Planner(const BuildRequest& request, const ToolchainOf& toolchain_of, const ArtifactCache& cache,
          AotServers& servers)
      : request_(request), toolchain_of_(toolchain_of), cache_(cache), servers_(servers) {}

  Status plan() {
    for (const auto& cell : request_.cases) {
      const bool is_program = is_program_file(cell.model);
      const auto kinds = toolchain_kinds_of(cell, request_.reference_kinds);
      if (is_program && kinds.empty()) {
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(toolchain_, toolchain_of_(cell.recipe.lowering));
      if (!is_program) {
        ASSAY_RETURN_IF_ERROR(plan_artifact(cell));
      }
      for (const auto& kind : kinds) {
        ASSAY_RETURN_IF_ERROR(plan_reference(cell, kind));
      }
    }
    return {};
  }

  BuiltArtifacts built;
  std::vector<Job> jobs;
  std::set<std::string> changes;  ///< Why what the cache has does not count.

 private:
  Status plan_artifact(const Case& cell) {
    auto job = describe_job(artifact_key(cell, toolchain_.id),
                            build_request(cell, request_.is_stop_after_lower));
    if (built.artifacts.contains(job.key)) {
      return {};
    }
    job.label = fmt::format("{} {}", display_name(cell.model), cell.recipe.name);
    auto& outcome = built.artifacts[job.key];
    if (may_be_cached(job.key) &&
        take_from_cache(cache_.find_artifact(job.key, job.scope), outcome.artifact)) {
      const bool is_whole = outcome.artifact && !outcome.artifact->files.empty();
      if (request_.is_stop_after_lower || is_whole) {
        outcome.is_from_cache = true;
        ++built.from_cache;
        return {};
      }
      outcome.artifact.reset();  // It was lowered and not written.
    }
    return add_job(std::move(job));
  }

  Status plan_reference(const Case& cell, const std::string& kind) {
    const bool is_program = is_program_file(cell.model);
    auto job =
        describe_job(reference_key(cell, kind, toolchain_.id),
                     is_program ? stimulus_request(cell, kind) : reference_request(cell, kind));
    if (built.references.contains(job.key)) {
      return {};
    }
    job.is_artifact = false;
    job.label = fmt::format("{} {}{}", display_name(cell.model),
                            kind == kInputsKind ? "" : "reference ", kind);
    auto& outcome = built.references[job.key];
    if (may_be_cached(job.key) &&
        take_from_cache(cache_.find_reference(job.key, job.scope), outcome.reference)) {
      ++built.from_cache;
      return {};
    }
    return add_job(std::move(job));
  }

  /// A process rebuilds a key once: the devices of a run, and the passes of a verb, share it.
  [[nodiscard]] bool may_be_cached(const std::string& key) const {
    return !request_.is_rebuild || cache_.is_rebuilt(key);
  }

  Job describe_job(std::string key, Json request) const {
    auto box = box_of_job(request, toolchain_, request_.sandbox);
    auto scope = dependency_scope(request, box);
    return {.key = std::move(key),
            .label = {},
            .staging = {},
            .request = std::move(request),
            .toolchain = toolchain_,
            .box = std::move(box),
            .scope = std::move(scope)};
  }

  Status add_job(Job job) {
    if (const auto change = cache_.find_change_since(job.key, job.scope)) {
      changes.insert(*change);
    }
    ASSAY_ASSIGN_OR_RETURN(job.staging, make_staging_folder(job.key, job.box));
    job.is_rebuilt = request_.is_rebuild;
    job.request["out_dir"] = job.staging.string();
    if (request_.job_timeout_ns > 0) {
      job.request["timeout_ns"] = request_.job_timeout_ns;
    }
    built.boxed += job.box.mode == SandboxMode::kOff ? 0 : 1;
    jobs.push_back(std::move(job));
    return {};
  }

  /// Makes the folder in the one that the job's sandbox opens, if it has a sandbox.
  Result<stdfs::path> make_staging_folder(const std::string& key, SandboxRequest& box) {
    if (box.mode == SandboxMode::kOff) {
      return cache_.make_staging_folder(key);
    }
    ASSAY_RETURN_IF_ERROR(servers_.open_staging(toolchain_, cache_, box));
    auto folder =
        stdfs::path(box.writable.front()) / fmt::format("{}-{}", key.substr(0, 16), make_uuid7());
    ASSAY_RETURN_IF_ERROR(make_folder(folder));
    return folder;
  }

  const BuildRequest& request_;
  const ToolchainOf& toolchain_of_;
  Toolchain toolchain_;  ///< Toolchain of the case that is planned.
  const ArtifactCache& cache_;
  AotServers& servers_;
};

Conclusion failure_from_error(const Error& error) {
  return {.outcome = Outcome::kHarnessError,
          .stage = Stage::kSerialize,
          .reason_code = "cache",
          .text = error.message};
}

/// Stores the output of a finished job in the cache and reloads it, verifying digests.
void store_result(const Job& job, const AotReply& reply, const ArtifactCache& cache,
                  BuiltArtifacts& built) {
  const auto set_failure = [&](const Conclusion& failure) {
    (job.is_artifact ? built.artifacts[job.key].failure : built.references[job.key].failure) =
        failure;
  };
  if (reply.conclusion.outcome != Outcome::kCompleted) {
    return set_failure(reply.conclusion);
  }
  const auto adopted = cache.adopt(job.key, job.staging,
                                   job.is_artifact ? "manifest.json" : "reference.json", job.scope);
  if (!adopted) {
    return set_failure(failure_from_error(adopted.error()));
  }
  if (job.is_rebuilt) {
    cache.note_rebuilt(job.key);
  }
  if (!job.is_artifact) {
    auto made = cache.read_reference(job.key, adopted->folder);
    return made ? void(built.references[job.key].reference = std::move(*made))
                : set_failure(failure_from_error(made.error()));
  }
  auto made = cache.read_artifact(job.key, adopted->folder);
  if (!made) {
    return set_failure(failure_from_error(made.error()));
  }
  if (const auto& is_same = adopted->is_reproduced) {
    made->manifest["reproducible"] = *is_same;
  }
  built.artifacts[job.key].artifact = std::move(*made);
}

Result<ArtifactFile> describe_file(const stdfs::path& folder, const ProgramFile& file) {
  const auto path = folder / file.name;
  ASSAY_ASSIGN_OR_RETURN(const auto digest, sha256_hex_of_file(path));
  std::error_code ignored;
  return ArtifactFile{.name = file.name,
                      .role = file.role,
                      .bytes = static_cast<std::int64_t>(stdfs::file_size(path, ignored)),
                      .sha256 = digest};
}

/// The jobs of each server, in the order in which these are first needed.
std::vector<std::vector<const Job*>> by_server(const std::vector<Job>& jobs) {
  std::vector<std::vector<const Job*>> groups;
  for (const auto& job : jobs) {
    const auto is_same = [&job](const auto& group) {
      return server_key(group.front()->toolchain, group.front()->box) ==
             server_key(job.toolchain, job.box);
    };
    auto group = std::ranges::find_if(groups, is_same);
    if (group == groups.end()) {
      group = groups.insert(group, std::vector<const Job*>());
    }
    group->push_back(&job);
  }
  return groups;
}

/// Has jobs of one fork server done.
Status make_jobs(const std::vector<const Job*>& jobs, const BuildRequest& request,
                 const ArtifactCache& cache, const BuildListener& listener, AotServers& servers,
                 BuiltArtifacts& built) {
  const auto on_stage = [&](int index, Stage stage) {
    if (listener.on_stage) {
      listener.on_stage(jobs[static_cast<std::size_t>(index)]->label, stage);
    }
  };
  const auto on_done = [&](int index, const AotReply& reply) {
    const auto& job = *jobs[static_cast<std::size_t>(index)];
    store_result(job, reply, cache, built);
    ++built.made;
    if (listener.on_done) {
      listener.on_done(job.label, reply);
    }
  };
  ServerJobs wanted{.toolchain = jobs.front()->toolchain,
                    .box = jobs.front()->box,
                    .requests = {},
                    .labels = {},
                    .parallel_jobs = request.parallel_jobs,
                    .log_file = cache.folder() / "server.log"};
  for (const auto* job : jobs) {
    wanted.requests.push_back(job->request);
    wanted.labels.push_back(job->label);
  }
  return do_server_jobs(wanted, servers, on_stage, on_done, listener.should_stop);
}

void tell_changes(const std::set<std::string>& changes, const BuildListener& listener) {
  for (const auto& change : changes) {
    if (listener.on_note) {
      listener.on_note(change + ", so what the cache has is made again");
    }
  }
}

}  // namespace

Result<BuiltArtifacts> build_artifacts(const BuildRequest& request, const ToolchainOf& toolchain_of,
                                       const ArtifactCache& cache, const BuildListener& listener,
                                       AotServers* kept) {
  AotServers own;
  auto& servers = kept == nullptr ? own : *kept;
  Planner planner(request, toolchain_of, cache, servers);
  ASSAY_RETURN_IF_ERROR(planner.plan());
  if (listener.on_plan) {
    listener.on_plan(static_cast<int>(planner.jobs.size()), planner.built.from_cache);
  }
  tell_changes(planner.changes, listener);
  for (const auto& jobs : by_server(planner.jobs)) {
    ASSAY_RETURN_IF_ERROR(make_jobs(jobs, request, cache, listener, servers, planner.built));
    if (kept == nullptr) {
      servers.drop(jobs.front()->toolchain, jobs.front()->box);
    }
  }
  if (planner.built.made > 0) {
    keep_cache_within_limit(cache);
  }
  return std::move(planner.built);
}

Result<Artifact> artifact_from_file(const stdfs::path& program) {
  Artifact artifact;
  artifact.folder = program.has_parent_path() ? program.parent_path().string() : ".";
  artifact.entry = program.filename().string();
  ASSAY_ASSIGN_OR_RETURN(const auto files, find_program_files(program));
  for (const auto& file : files) {
    ASSAY_ASSIGN_OR_RETURN(artifact.files.emplace_back(), describe_file(artifact.folder, file));
  }
  for (auto& name : find_named_files(program)) {
    const ProgramFile file{.name = std::move(name), .role = std::string(kNamedRole)};
    ASSAY_ASSIGN_OR_RETURN(artifact.files.emplace_back(), describe_file(artifact.folder, file));
  }
  artifact.key = artifact.digest();
  return artifact;
}

bool is_program_file(const ModelReference& model) {
  return find_program_format(model.ref).has_value();
}

bool is_bundle(const ModelReference& model) { return model.ref.ends_with(".bpte"); }

DependencyScope scope_of_artifact(const Case& cell, const Toolchain& toolchain,
                                  std::optional<SandboxMode> sandbox) {
  const auto request = build_request(cell, /*is_stop_after_lower=*/false);
  return dependency_scope(request, box_of_job(request, toolchain, sandbox));
}

DependencyScope scope_of_reference(const Case& cell, const std::string& kind,
                                   const Toolchain& toolchain, std::optional<SandboxMode> sandbox) {
  const auto request = reference_request(cell, kind);
  return dependency_scope(request, box_of_job(request, toolchain, sandbox));
}

std::vector<std::string> toolchain_kinds_of(const Case& cell,
                                            const std::vector<std::string>& kinds) {
  std::vector<std::string> made;
  if (is_program_file(cell.model)) {
    if (!kinds.empty() && needs_stimulus(cell, kinds)) {
      const bool is_file = is_named(kinds, kFileKind) && has_expected_outputs(cell);
      made.emplace_back(is_file ? kFileKind : kInputsKind);
    }
    return made;
  }
  std::ranges::copy_if(kinds, std::back_inserter(made),
                       [&cell](const auto& kind) { return needs_reference(cell, kind); });
  return made;
}

}  // namespace assay
