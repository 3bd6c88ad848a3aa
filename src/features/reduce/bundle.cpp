#include "features/reduce/bundle.h"

#include "features/conform/repro_command.h"
#include "features/reduce/candidate.h"
#include "features/reduce/candidate_evaluator.h"
#include "features/reduce/finding.h"
#include "features/reduce/reducer.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "assay/artifact/cache.h"
#include "assay/artifact/job_requests.h"
#include "assay/base/enum_names.h"  // IWYU pragma: keep: JSON of optional values
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/record/axes.h"
#include "assay/record/boxed_command.h"
#include "assay/record/case.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr auto* kReductionSchema = "assay/reduction/1";
constexpr auto* kScript = "repro.py";
constexpr auto kScriptTimeout = std::chrono::minutes(5);
constexpr int kCannotRun = 2;  ///< Exit code of a script (CANNOT_RUN in assay/reduce/engines.py).
constexpr std::size_t kLongestModel = 400;  ///< Bytes of a model that a line shows.

std::string text_of_model(const ReduceCandidate& candidate) {
  if (is_piece(candidate.model)) {
    return fmt::format("nodes {} of {}", Json(nodes_of(candidate.model)).dump(),
                       candidate.model.args.at("model").at("ref").get<std::string>());
  }
  auto args = candidate.model.args.dump();
  if (args.size() > kLongestModel) {
    args = args.substr(0, kLongestModel) + "…";
  }
  return fmt::format("{} {}", candidate.model.ref, args);
}

Result<CommandOutput> execute_script(const stdfs::path& folder, const CandidateEvaluator& evaluator,
                                     const SandboxRequest& box) {
  ASSAY_ASSIGN_OR_RETURN(const auto own, TemporaryFolder::make("assay-box"));
  return run_command(
      {.argv = boxed_command(box, own.path().string(),
                             {evaluator.toolchain().python.string(), (folder / kScript).string()}),
       .stderr_file = (folder / "repro.log").string()},
      kScriptTimeout);
}

/// Runs the script and notes what it showed.
void run_script(const stdfs::path& folder, const CandidateEvaluator& evaluator,
                const SandboxRequest& box, ReductionReport& report) {
  const auto ran = execute_script(folder, evaluator, box);
  if (!ran) {
    report.script = "repro.py could not be run: " + ran.error().message;
    return;
  }
  report.is_shown = ran->exit_code == 0;
  if (report.is_shown) {
    report.script = "repro.py shows the failure (exit code 0)";
  } else if (ran->exit_code == kCannotRun) {
    report.script =
        "repro.py makes the program and cannot execute it here (exit code 2); repro.log ends with "
        "the command that does";
  } else {
    report.script = fmt::format(
        "repro.py does not show the failure here (exit code {}); see repro.log", ran->exit_code);
  }
}

Status write_script(const stdfs::path& folder, const CandidateEvaluator& evaluator,
                    const Json& reference, ReductionReport& report) {
  const auto& smallest = report.reduction.smallest();
  const Json job{{"job", "script"},
                 {"model", model_request(smallest.candidate.model)},
                 {"recipe", recipe_request(evaluator.pattern().recipe)},
                 {"finding", smallest.finding},
                 {"check", report.check},
                 {"reference", reference},
                 {"name", report.name},
                 {"out_dir", stdfs::absolute(folder).string()}};
  ASSAY_ASSIGN_OR_RETURN(const auto reply, evaluator.ask_toolchain(job));
  if (reply.conclusion.outcome != Outcome::kCompleted) {
    report.script = "there is no repro.py: " + reply.conclusion.text;
  } else if (const auto why = reply.result.value("unavailable", std::string()); !why.empty()) {
    report.script = "repro.py is not available for this: " + why;
  } else {
    run_script(folder, evaluator, evaluator.box_of(job), report);
  }
  return {};
}

std::string reduction_readme(const ReductionReport& report, const Case& pattern, bool has_script) {
  return fmt::format(
      "# {} on {}\n\n```\n{}```\n\n{}.\n\n"
      "| file | holds |\n|---|---|\n{}"
      "| `inputs.safetensors`, `outputs.safetensors` | inputs, and what is expected of them, named "
      "`<sample>.<index>` |\n"
      "| `bounds.safetensors` | how far each element may be off, where that is known |\n"
      "| `manifest.json` and the files that it names | the program, where one could be made |\n"
      "| `reproduce.json` | all of this for programs |\n",
      report.name, pattern.recipe.name, text_of_reduction(report, pattern), report.script,
      has_script ? "| `repro.py` | shows it without Assay; exit code 0: the failure is there |\n"
                 : "");
}

/// True if the smallest case failed once more, in a clause.
std::string text_of_confirmation(std::optional<bool> is_confirmed) {
  if (!is_confirmed) {
    return "it was not judged once more: the reduction was interrupted";
  }
  return *is_confirmed ? "and so it does in processes of its own once more"
                       : "but not when it was judged once more: it comes and goes";
}

}  // namespace

std::string command_of(const CandidateEvaluator& evaluator, const ReduceCandidate& candidate) {
  const auto cell = evaluator.case_of(candidate);
  return repro_command(cell, evaluator.reference_kind(candidate));
}

std::string text_of_document(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json document_of(const ReductionReport& report, const Case& pattern) {
  const auto& smallest = report.reduction.smallest();
  return {{"schema", kReductionSchema},
          {"case", report.name},
          {"recipe", pattern.recipe.name},
          {"engine", pattern.engine_build},
          {"options", pattern.options},
          {"check", report.check},
          {"verdict", smallest.finding.verdict},
          {"text", smallest.finding.text},
          {"model", model_request(smallest.candidate.model)},
          {"is_confirmed", report.is_confirmed},
          {"command", report.command},
          {"script", report.script},
          {"is_shown", report.is_shown},
          {"reduction", report.reduction}};
}

std::string text_of_reduction(const ReductionReport& report, const Case& pattern) {
  const auto& reduction = report.reduction;
  auto text = fmt::format("{} on {}, {}\n  {}\n", report.name, pattern.recipe.name,
                          pattern.engine_build, text_of_finding(reduction.first.finding));
  text += fmt::format("{} steps, {} candidates judged, {} known before; ended: {}\n",
                      reduction.steps.size(), reduction.judged, reduction.replayed,
                      reduction.stopped_by);
  int number = 0;
  for (const auto& step : reduction.steps) {
    text += fmt::format("{:>4}. {}\n", ++number, step.what);
  }
  const auto& smallest = reduction.smallest();
  text += fmt::format("smallest that fails: {}\n  {}\n  {}\n", text_of_model(smallest.candidate),
                      text_of_finding(smallest.finding), text_of_confirmation(report.is_confirmed));
  if (const auto& closest = reduction.closest) {
    text += fmt::format("closest that does not ({}): {}\n  {}\n", closest->what,
                        text_of_model(closest->candidate), text_of_finding(closest->finding));
  }
  return text + "repeat: " + report.command + "\n";
}

Status write_reduction_bundle(const stdfs::path& folder, const CandidateEvaluator& evaluator,
                              ReductionReport& report) {
  const auto& candidate = report.reduction.smallest().candidate;
  std::error_code error;
  stdfs::create_directories(folder, error);
  ASSAY_ASSIGN_OR_RETURN(const auto artifact, evaluator.find_artifact(candidate));
  if (artifact) {
    ASSAY_RETURN_IF_ERROR(copy_artifact(*artifact, folder));
  }
  Json source = nullptr;
  ASSAY_ASSIGN_OR_RETURN(const auto reference, evaluator.find_reference(candidate));
  if (reference) {
    ASSAY_RETURN_IF_ERROR(copy_reference(*reference, folder));
    source = reference->folder;
  }
  ASSAY_RETURN_IF_ERROR(write_script(folder, evaluator, source, report));
  ASSAY_RETURN_IF_ERROR(
      write_file_atomically(folder / "reproduce.json",
                            text_of_document(document_of(report, evaluator.pattern())) + "\n"));
  return write_file_atomically(
      folder / "README.md",
      reduction_readme(report, evaluator.pattern(), stdfs::exists(folder / kScript)));
}

}  // namespace assay
