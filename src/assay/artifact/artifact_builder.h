#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/aot_servers.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/dependencies.h"
#include "assay/artifact/toolchain.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/conclusion.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"

namespace assay {

/// An artifact, or why there is none.
struct ArtifactOutcome {
  std::optional<Artifact> artifact;
  Conclusion failure;  ///< When there is none.
  bool is_from_cache = false;
};

/// A reference, or why there is none.
struct ReferenceOutcome {
  std::optional<Reference> reference;
  Conclusion failure;
};

/// Follows a build, for a progress display. `label` names the job for people.
struct BuildListener {
  std::function<void(int jobs, int from_cache)> on_plan;
  std::function<void(const std::string& label, Stage stage)> on_stage;
  std::function<void(const std::string& label, const AotReply& reply)> on_done;
  std::function<void(const std::string& text)> on_note;  ///< Why what the cache has is made again.
  std::function<bool()> should_stop;
};

struct BuildRequest {
  std::vector<Case> cases;
  std::vector<std::string>
      reference_kinds;  ///< Kinds of spec/reference_kind.h; each case gets those that it can have.
  int parallel_jobs = 2;
  bool is_rebuild = false;  ///< Make again what the cache has, references too, and compare.
  bool is_stop_after_lower = false;
  std::int64_t job_timeout_ns = 0;     ///< Then a job is killed; 0: build_timeout_ns.
  std::optional<SandboxMode> sandbox;  ///< Sandbox of the jobs; absent: as box_of_job chooses.
};

/// Everything a set of cases needs, by key.
struct BuiltArtifacts {
  std::map<std::string, ArtifactOutcome> artifacts;    ///< Keyed by artifact_key.
  std::map<std::string, ReferenceOutcome> references;  ///< Keyed by reference_key.
  int made = 0;
  int boxed = 0;  ///< Built in a sandbox.
  int from_cache = 0;
};

/// Takes artifacts and references from the cache and has the rest made, by the fork server of the
/// toolchain of each case's lowering: one server after the other where there are several. A case's
/// references come from the toolchain that makes its program, so both start from the same model. A
/// job that fails is an outcome, not an error. Cases whose model is a program file need none.
/// `kept`: servers to use and to leave there for the next call; null: of this call alone.
/// Errors: kUnavailable (no toolchain and something is missing), kTimeout (stopped).
Result<BuiltArtifacts> build_artifacts(const BuildRequest& request, const ToolchainOf& toolchain_of,
                                       const ArtifactCache& cache, const BuildListener& listener,
                                       AotServers* kept = nullptr);

/// Where the cache looks for the artifact of a case, and for a reference.
DependencyScope scope_of_artifact(const Case& cell, const Toolchain& toolchain,
                                  std::optional<SandboxMode> sandbox);
DependencyScope scope_of_reference(const Case& cell, const std::string& kind,
                                   const Toolchain& toolchain, std::optional<SandboxMode> sandbox);

/// The artifact of a case whose model is a program file: all of its files (find_program_files),
/// digested now.
Result<Artifact> artifact_from_file(const std::filesystem::path& program);

/// True if the model is a finished program (.pte, …) that is not to be made.
bool is_program_file(const ModelReference& model);

/// True if that program is in a bundle (.bpte) with inputs and expected outputs, out of which a
/// toolchain takes it.
bool is_bundle(const ModelReference& model);

/// Selects from `kinds` those that a toolchain makes for this case. For a program: "file", or
/// "inputs" where it has no expected outputs but its inputs are not what its engine makes up;
/// mostly neither.
std::vector<std::string> toolchain_kinds_of(const Case& cell,
                                            const std::vector<std::string>& kinds);

}  // namespace assay
