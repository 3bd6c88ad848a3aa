#include "features/conform/conform.h"
#include "features/conform/conform_options.h"
#include "features/reduce/bundle.h"
#include "features/reduce/check.h"
#include "features/reduce/failure_index.h"
#include "features/reduce/finding.h"
#include "features/reduce/reduce_one.h"
#include "features/reduce/reduce_run.h"
#include "features/reduce/reducer.h"

#include <algorithm>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/artifact/aot_servers.h"
#include "assay/artifact/cache.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/result_flags.h"
#include "assay/cli/verb.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"
#include "assay/record/model_inputs.h"
#include "assay/record/run.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"
#include "assay/store/stored_conformance.h"

namespace assay::cli {
namespace {

/// The flags of `assay reduce`.
struct ReduceOptions {
  QuickSpec quick;
  CampaignFlags flags;
  std::string run;                 ///< Run of assay conform, instead of a model; empty: none.
  std::vector<std::string> match;  ///< Patterns of a run's operators or cases; empty: all.
  std::string check = "same";
  std::string replay;
  std::string bundle;
  std::string budget = "10min";
  ResultFlags output;
  int batch = 4;
};

/// Candidates pass and fail by design: none of that is news.
class Silence : public CampaignListener {
 public:
  bool should_stop() override { return is_interrupted(); }
};

Result<Spec> spec_from_check(const ReduceOptions& options, const ReduceCheck& check) {
  auto quick = options.quick;
  if (!is_case_name(quick.model) && find_program_format(quick.model)) {
    return fail(ErrorCode::kInvalidArgument,
                "a finished program cannot be made smaller: give the model or the case, and a "
                "recipe");
  }
  if (is_case_name(quick.model)) {
    quick.model.clear();  // Its call and inputs come from the suite.
  }
  if (quick.model.starts_with("aten:")) {
    quick.inputs = kModelInputs;
  }
  if (!check.recipe.empty()) {
    quick.recipes.push_back(check.recipe);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto document, quick.document({"evaluate"}));
  ASSAY_ASSIGN_OR_RETURN(auto context, options.flags.toolchain.context("assay reduce"));
  context.has_models = !quick.model.empty();
  return spec_from_json(document, context);
}

Result<ReduceOneRequest> request_from(const ReduceOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto check, check_from_text(options.check));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_check(options, check));
  ASSAY_ASSIGN_OR_RETURN(auto campaign, plan_campaign(spec, options.flags));
  ASSAY_ASSIGN_OR_RETURN(auto subject, reduction_from_campaign(std::move(campaign), check));
  ASSAY_ASSIGN_OR_RETURN(const auto budget_ns, duration_ns_from_text(options.budget));
  ReduceOneRequest request{.name = options.quick.model,
                           .subject = std::move(subject),
                           .check = options.check,
                           .replay = options.replay,
                           .bundle = options.bundle,
                           .budget_ns = budget_ns,
                           .batch = options.batch,
                           .is_interrupted = is_interrupted};
  if (!options.flags.run.is_quiet) {
    request.on_step = [](const ReduceStep& step) {
      log_line(LogLevel::kInfo, fmt::format("{}: {}", step.what, text_of_finding(step.finding)));
    };
  }
  return request;
}

Status write(const ReduceOptions& options, const ReductionReport& report, const Case& pattern) {
  const auto console = [&](bool /*has_colour*/) {
    return text_of_reduction(report, pattern) +
           (options.bundle.empty()
                ? ""
                : fmt::format("bundle: {}; {}\n", options.bundle, report.script));
  };
  const auto json = [&] { return text_of_document(document_of(report, pattern)) + "\n"; };
  return options.output.write({.console = console, .json = json});
}

Result<ExitCode> reduce_named(const ReduceOptions& options, const CampaignTools& tools) {
  ASSAY_ASSIGN_OR_RETURN(const auto request, request_from(options));
  const auto reduced = reduce_one(request, tools);
  if (!reduced && is_interrupted()) {
    return ExitCode::kInterrupted;
  }
  if (!reduced) {
    return std::unexpected(reduced.error());
  }
  ASSAY_RETURN_IF_ERROR(write(options, reduced->report, reduced->pattern));
  return is_interrupted() ? ExitCode::kInterrupted : ExitCode::kOk;
}

// ---- every failure of a run

Status check_run_flags(const ReduceOptions& options) {
  if (options.bundle.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--run RUN needs --bundle FOLDER: each failure gets a folder in it");
  }
  const auto& quick = options.quick;
  if (!quick.model.empty() || !options.replay.empty() || !quick.engines.empty() ||
      !quick.options.empty() || !quick.threads.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--run RUN takes cases, engines and options from the run: leave out the model, "
                "--engine, --option, --threads and --replay");
  }
  return {};
}

/// The flags that reduce this case alone.
ReduceOptions options_for(const ConformResult& result, const ReduceOptions& options,
                          const std::filesystem::path& folder) {
  auto one = options;
  one.quick.model = result.name;
  one.quick.recipes = {result.recipe};
  one.quick.engines = {result.engine};
  std::istringstream words(result.options);
  for (std::string word; words >> word;) {
    one.quick.options.push_back(word);
  }
  one.bundle = folder.string();
  one.replay = one.bundle + "/replay.jsonl";
  return one;
}

Status write(const std::string& run, const std::vector<ReducedFailure>& failures,
             const ReduceOptions& options) {
  const auto console = [&](bool /*has_colour*/) {
    return fmt::format("{}; {}/README.md\n", totals_of_failures(failures), options.bundle);
  };
  const auto json = [&] { return text_of_document(document_of_failures(run, failures)) + "\n"; };
  return options.output.write({.console = console, .json = json});
}

ExitCode exit_code_from_failures(const std::vector<ReducedFailure>& failures) {
  if (is_interrupted()) {
    return ExitCode::kInterrupted;
  }
  if (failures.empty()) {
    return ExitCode::kNothingMatched;
  }
  const bool is_each_reduced = std::ranges::all_of(
      failures, [](const ReducedFailure& failure) { return failure.report.has_value(); });
  return is_each_reduced ? ExitCode::kOk : ExitCode::kFindings;
}

Result<ExitCode> reduce_failures(const ReduceOptions& options, const CampaignTools& tools) {
  ASSAY_RETURN_IF_ERROR(check_run_flags(options));
  ASSAY_ASSIGN_OR_RETURN(const auto run, get_conform_run(tools.store, options.run));
  ASSAY_ASSIGN_OR_RETURN(const auto report, read_conform_report(tools.store, run));
  ReduceRunRequest request{
      .selection = run.spec.get<ConformOptions>().selection(),
      .recipes = options.quick.recipes,
      .match = options.match,
      .bundle = options.bundle,
      .parallel_jobs = options.flags.toolchain.jobs,
      .plan =
          [&options](const ConformResult& result, const std::filesystem::path& folder) {
            return request_from(options_for(result, options, folder));
          },
      .is_interrupted = is_interrupted};
  if (!options.flags.run.is_quiet) {
    request.on_reduced = [](std::string_view line) { log_line(LogLevel::kInfo, line); };
  }
  ASSAY_ASSIGN_OR_RETURN(const auto failures, reduce_run(report, request, tools));
  ASSAY_RETURN_IF_ERROR(write(run.id, failures, options));
  return exit_code_from_failures(failures);
}

Result<ExitCode> execute_reduce(const ReduceOptions& options) {
  if (options.run.empty() == options.quick.model.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "give the model or the case that fails, or --run RUN for all failures of a run of "
                "assay conform");
  }
  ASSAY_RETURN_IF_ERROR(options.output.check());
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open());
  const ArtifactCache cache(assay_home() / "cache");
  Silence silence;
  AotServers servers;
  auto tools =
      campaign_tools(*store, cache, options.flags.toolchain, options.flags.device, silence);
  tools.servers = &servers;
  return options.run.empty() ? reduce_named(options, tools) : reduce_failures(options, tools);
}

}  // namespace

Execute declare_reduce(CLI::App& app) {
  auto options = std::make_shared<ReduceOptions>();
  options->quick.declare_model(app);
  app.get_option("model")->required(false)->description(
      "Name of a case of assay conform, or a model: torchvision:NAME, file.py:FACTORY, model.pt2, "
      "aten:NAME");
  app.add_option(
      "--run", options->run,
      "Reduce every failure of this run of assay conform instead of a model, by id or latest");
  app.add_option("--match", options->match,
                 "With --run, reduce only the operators or cases that match PATTERN")
      ->delimiter(',');
  app.add_option("--check", options->check,
                 "Failure that a smaller case must show: same, numeric, crash, timeout, error, "
                 "not-delegated, slower-than=RECIPE:1.5")
      ->capture_default_str();
  app.add_option(
      "--bundle", options->bundle,
      "Folder to write program, inputs, expected outputs and a script that needs no Assay to");
  app.add_option("--replay", options->replay,
                 "File that keeps every verdict; the same command resumes from it");
  app.add_option("--budget", options->budget,
                 "Time limit, such as 10min; the smallest failing case found so far is kept")
      ->capture_default_str();
  app.add_option("--batch", options->batch, "Number of candidates built in parallel")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  options->output.declare(app);
  app.add_flag("--quiet,-q", options->flags.run.is_quiet, "Do not report steps on stderr");
  options->flags.run.declare_libraries(app);
  options->flags.run.sandbox.declare(app, "launches and toolchain jobs",
                                     "on for libraries given by path and .pt2 models");
  app.add_option("--launch-timeout", options->flags.run.launch_timeout,
                 "Kill a runner after this long, such as 30s [default: 1 min]");
  options->flags.toolchain.declare(app);
  options->flags.device.declare(app);
  options->flags.store.declare(app);
  return [options] { return execute_reduce(*options); };
}

}  // namespace assay::cli
