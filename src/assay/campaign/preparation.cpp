#include "assay/campaign/preparation.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/artifact_builder.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/digest.h"
#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/run_context.h"
#include "assay/campaign/toolchain_job.h"
#include "assay/record/artifact_role.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/conclusion.h"
#include "assay/record/invalid_request.h"
#include "assay/record/model_inputs.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/spec/named_files.h"
#include "assay/spec/reference_kind.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// File name that a toolchain gives to the program of a bundle.
constexpr const char* kBundledProgram = "program.pte";
EngineBuild build_of(const Case& cell, const std::vector<EngineBuild>& builds) {
  const auto found = std::ranges::find(builds, cell.engine_build, &EngineBuild::reference);
  return found == builds.end() ? EngineBuild{.name = cell.engine} : *found;
}

/// Timing takes its inputs from the float32 reference, so that one is made for it in any case; an
/// evaluation alone takes them from what it is compared with, where that is there for every recipe.
bool needs_float32(const CampaignSettings& settings) {
  const bool is_evaluation_only = settings.passes == std::vector{Pass::kEvaluate};
  const bool has_inputs = std::ranges::any_of(settings.against, [](const std::string& kind) {
    const auto named = find_enum<ReferenceKind>(kind);
    return named && serves_every_recipe(*named);
  });
  return !is_evaluation_only || (settings.needs_float32 && !has_inputs);
}

/// Layers are compared with both float32 and qdq. Without an evaluation nothing but the inputs is
/// needed of a reference.
std::vector<std::string> reference_kinds(const CampaignSettings& settings,
                                         const std::vector<Case>& cases) {
  const auto& passes = settings.passes;
  const bool is_evaluated = std::ranges::find(passes, Pass::kEvaluate) != passes.end();
  auto kinds = is_evaluated ? settings.against : std::vector<std::string>();
  const auto need = [&kinds](ReferenceKind kind) {
    if (std::ranges::find(kinds, name_of(kind)) == kinds.end()) {
      kinds.emplace_back(name_of(kind));
    }
  };
  const bool gives_layers = std::ranges::any_of(cases, &Case::gives_layers);
  if (gives_layers || needs_float32(settings)) {
    need(ReferenceKind::kFloat32);
  }
  if (gives_layers) {
    need(ReferenceKind::kQdq);
  }
  return kinds;
}

void hand_out(const BuiltArtifacts& built, const Toolchain& toolchain,
              const std::vector<std::string>& kinds, PreparedCase& prepared) {
  const auto& outcome = built.artifacts.at(artifact_key(prepared.cell, toolchain.id));
  prepared.artifact = outcome.artifact;
  prepared.failure = outcome.failure;
  prepared.subject.toolchain_id = toolchain.id;
  for (const auto& kind : kinds) {
    const auto found = built.references.find(reference_key(prepared.cell, kind, toolchain.id));
    if (found == built.references.end()) {
      continue;
    }
    if (const auto& reference = found->second.reference) {
      prepared.references[kind] = *reference;
    } else {
      prepared.missing_references[kind] = found->second.failure;
    }
  }
}

/// A program's inputs, with what is expected of them; and itself, where it lay in a bundle. Without
/// its inputs it cannot run.
Status hand_out_inputs(const BuiltArtifacts& built, const Toolchain& toolchain,
                       const std::vector<std::string>& kinds, PreparedCase& prepared) {
  for (const auto& kind : kinds) {
    const auto& outcome = built.references.at(reference_key(prepared.cell, kind, toolchain.id));
    if (!outcome.reference) {
      prepared.artifact.reset();
      prepared.failure = outcome.failure;
      return {};
    }
    const auto missing = outcome.reference->document.value("missing_outputs", "");
    prepared.references[missing.empty() ? kind : std::string(kInputsKind)] = *outcome.reference;
    if (!missing.empty()) {
      prepared.missing_references[kind] = {.outcome = Outcome::kSkipped,
                                           .stage = Stage::kReference,
                                           .reason_code = "no_expected_outputs",
                                           .text = missing};
    }
    if (is_bundle(prepared.cell.model)) {
      const auto folder = std::filesystem::path(outcome.reference->folder);
      ASSAY_ASSIGN_OR_RETURN(prepared.artifact, artifact_from_file(folder / kBundledProgram));
    }
  }
  return {};
}

/// The cases, and those of their pieces.
std::vector<Case> cases_to_make(const std::vector<Case>& cases) {
  auto all = cases;
  for (const auto& cell : cases) {
    if (cell.gives_layers) {
      all.push_back(case_of_pieces(cell, {"*"}));
    }
  }
  return all;
}

Status make_artifacts(const CampaignSettings& settings, const std::vector<Case>& cases,
                      const CampaignTools& tools, std::vector<PreparedCase>& prepared) {
  const auto kinds = reference_kinds(settings, cases);
  ASSAY_ASSIGN_OR_RETURN(const auto built,
                         build_artifacts({.cases = cases_to_make(cases),
                                          .reference_kinds = kinds,
                                          .parallel_jobs = settings.parallel_jobs,
                                          .is_rebuild = settings.is_rebuild,
                                          .job_timeout_ns = settings.job_timeout_ns,
                                          .sandbox = settings.sandbox},
                                         tools.toolchain_of, tools.cache,
                                         build_listener(tools.listener), tools.servers));
  if (built.boxed > 0) {
    tell_gaps_of_toolchain_box();
  }
  for (auto& one : prepared) {
    const bool is_program = is_program_file(one.cell.model);
    const auto own_kinds = is_program ? toolchain_kinds_of(one.cell, kinds) : kinds;
    if (is_program && own_kinds.empty()) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto toolchain, tools.toolchain_of(one.cell.recipe.lowering));
    if (is_program) {
      ASSAY_RETURN_IF_ERROR(hand_out_inputs(built, toolchain, own_kinds, one));
      continue;
    }
    hand_out(built, toolchain, kinds, one);
    if (one.cell.gives_layers) {
      PreparedCase apart{.cell = case_of_pieces(one.cell, {"*"}), .build = one.build};
      hand_out(built, toolchain, kinds, apart);
      one.pieces = std::make_shared<const PreparedCase>(std::move(apart));
    }
  }
  return {};
}

/// True if the inputs of the case are in no file that a runner can read: a toolchain makes them
/// with a reference.
bool needs_reference(const Case& cell) {
  const auto& generator = cell.inputs.generator;
  return generator == kModelInputs || (generator == "file" && !is_program_file(cell.model));
}

/// True if the recipe, and neither the model nor Assay, is why there is no such reference.
bool is_fault_of_recipe(const std::string& kind, const Conclusion& why) {
  const bool is_of_recipe =
      kind == name_of(ReferenceKind::kQdq) || kind == name_of(ReferenceKind::kLoweredEager);
  return why.stage == Stage::kQuantize || (is_of_recipe && why.stage == Stage::kLower) ||
         why.reason_code == kInvalidRequest;
}

std::optional<Conclusion> why_without_inputs(const PreparedCase& prepared) {
  const auto& missing = prepared.missing_references;
  if (!needs_reference(prepared.cell) || !prepared.references.empty() || missing.empty()) {
    return std::nullopt;
  }
  const auto floating = missing.find(std::string(name_of(ReferenceKind::kFloat32)));
  const auto& [kind, why] = floating == missing.end() ? *missing.begin() : *floating;
  if (is_fault_of_recipe(kind, why)) {
    return why;
  }
  const bool is_models = prepared.cell.inputs.generator == kModelInputs;
  return Conclusion{.outcome = is_models ? Outcome::kHarnessError : why.outcome,
                    .stage = Stage::kReference,
                    .reason_code = is_models ? "no_reference" : why.reason_code,
                    .text = fmt::format("no {} reference to take inputs from: {}", kind, why.text)};
}

/// Adds the files that a companion command names: with other companions it is another subject,
/// and none may change while the program is measured.
Status add_files_of_neighbor(const Case& cell, Artifact& artifact) {
  const stdfs::path beside = cell.scenario.value("beside", "");
  const auto folder = beside.empty() ? stdfs::path() : stdfs::absolute(beside).parent_path();
  for (const auto& name : find_named_files(beside)) {
    const auto path = (folder / name).string();
    if (std::ranges::find(artifact.files, path, &ArtifactFile::name) != artifact.files.end()) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(auto digest, sha256_hex_of_file(path));
    std::error_code error;
    const auto bytes = stdfs::file_size(path, error);
    artifact.files.push_back({.name = path,
                              .role = kNamedRole,
                              .bytes = error ? 0 : static_cast<std::int64_t>(bytes),
                              .sha256 = std::move(digest)});
  }
  return {};
}

}  // namespace

Status store_subject(ResultStore& store, const PreparedCase& prepared) {
  if (prepared.artifact) {
    ASSAY_RETURN_IF_ERROR(store.add_artifact(*prepared.artifact));
  }
  return store.add_subject(prepared.subject);
}

Status store_reference(ResultStore& store, const std::string& run, const Reference& reference) {
  // First, so that a run which is removed meanwhile does not take the reference along.
  ASSAY_RETURN_IF_ERROR(
      store.add_attachment({.owner = reference.id(), .kind = run, .content = ""}));
  return store.add_reference(reference);
}

Status store_prepared(ResultStore& store, const std::string& run, PreparedCase& prepared) {
  prepared.subject.engine_build = prepared.build.reference();
  prepared.subject.engine_build_id = prepared.build.build_id;
  if (prepared.artifact) {
    ASSAY_RETURN_IF_ERROR(add_files_of_neighbor(prepared.cell, *prepared.artifact));
    prepared.subject.artifact_digest = prepared.artifact->digest();
    prepared.artifact_id = prepared.artifact->id();
  }
  for (const auto& [kind, reference] : prepared.references) {
    ASSAY_RETURN_IF_ERROR(store_reference(store, run, reference));
  }
  prepared.subject_digest = subject_key(prepared.subject);
  return store_subject(store, prepared);
}

Case case_of_pieces(const Case& cell, std::vector<std::string> layers) {
  auto apart = cell;
  apart.gives_layers = false;
  apart.pieces = std::move(layers);
  return apart;
}

BuildListener build_listener(CampaignListener& listener) {
  const auto progress = std::make_shared<PhaseProgress>();
  return {.on_plan =
              [&listener, progress](int jobs, int /*from_cache*/) {
                progress->total = jobs;
                listener.on_phase("artifacts", "program or reference", *progress);
              },
          .on_stage =
              [&listener](const std::string& label, Stage stage) {
                listener.on_step_started(
                    label, stage == Stage::kStart ? "the toolchain loads PyTorch" : name_of(stage));
              },
          .on_done =
              [&listener, progress](const std::string& label, const AotReply& reply) {
                ++progress->done;
                listener.on_step_finished(label, reply.conclusion.outcome, reply.conclusion.text);
                listener.on_progress(*progress);
              },
          .on_note = [&listener](const std::string& text) { listener.on_note(text); },
          .should_stop =
              [&listener] {
                listener.on_wait();
                return listener.should_stop();
              }};
}

std::optional<Conclusion> why_not_launched(const PreparedCase& prepared) {
  const bool is_made = prepared.artifact.has_value();
  if (auto why = why_without_inputs(prepared)) {
    return why;
  }
  if (!is_made) {
    return prepared.failure;
  }
  if (!prepared.cell.recipe.runtime_unavailable.empty()) {
    return Conclusion{.outcome = Outcome::kSkipped,
                      .stage = Stage::kStart,
                      .reason_code = "runtime_unavailable",
                      .text = prepared.cell.recipe.runtime_unavailable};
  }
  return std::nullopt;
}

Result<std::vector<PreparedCase>> prepare_cases(const RunContext& context,
                                                const std::vector<Case>& cases,
                                                const CampaignTools& tools) {
  if (tools.prepare) {
    return tools.prepare(cases);
  }
  std::vector<PreparedCase> prepared;
  bool needs_toolchain = false;
  const auto kinds = reference_kinds(context.settings, cases);
  for (const auto& cell : cases) {
    prepared.push_back(
        {.cell = cell, .build = build_of(cell, context.builds), .key = case_key(cell)});
    if (is_program_file(cell.model) && !is_bundle(cell.model)) {
      ASSAY_ASSIGN_OR_RETURN(prepared.back().artifact, artifact_from_file(cell.model.ref));
    }
    needs_toolchain =
        needs_toolchain || !is_program_file(cell.model) || !toolchain_kinds_of(cell, kinds).empty();
  }
  if (needs_toolchain) {
    ASSAY_RETURN_IF_ERROR(make_artifacts(context.settings, cases, tools, prepared));
  }
  for (auto& one : prepared) {
    ASSAY_RETURN_IF_ERROR(store_prepared(tools.store, context.run.id, one));
  }
  return prepared;
}

}  // namespace assay
