#include "features/compare/compare.h"
#include "features/compare/comparison_request.h"
#include "features/compare/identity.h"
#include "features/compare/look_limit.h"
#include "features/compare/stored.h"

#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/execute_on_fleet.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/fleet_setup.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/one_device_campaign.h"
#include "assay/cli/progress.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/result_flags.h"
#include "assay/cli/run_reference.h"
#include "assay/cli/tell_takeover.h"
#include "assay/cli/verb.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/report/comparison.h"
#include "assay/report/stored_comparison.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"
#include "assay/summary/reduction.h"

namespace assay::cli {
namespace {

constexpr std::size_t kWidth = 120;
constexpr const char* kMetrics =
    "steady_floor_ns, steady_ns, steady_p90_ns, first_ns, load_ns, or program:NAME, a "
    "number that the program prints";

struct CompareOptions {
  QuickSpec quick;
  CampaignFlags flags;
  std::string other;
  std::string metric = "steady_floor_ns";
  std::string budget;
  ResultFlags output;
  double gate_percent = 2;
  int most_pairs = 80;
  bool has_no_canary = false;
  bool is_not_pinned = false;
  bool tries_duet = false;
  bool measures_identical = false;
  std::string resume;
};

Result<ComparisonPlan> plan_from(const CompareOptions& options) {
  ComparisonPlan plan{.metric = options.metric,
                      .gate_ratio = options.gate_percent / 100,
                      .has_canary = !options.has_no_canary,
                      .is_pinned = !options.is_not_pinned,
                      .tries_duet = options.tries_duet};
  const auto known = compared_metrics(options.metric);
  if (known.front() != options.metric) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--metric {}: one of {}", options.metric, kMetrics));
  }
  if (!options.budget.empty()) {
    ASSAY_ASSIGN_OR_RETURN(plan.budget_ns, duration_ns_from_text(options.budget));
  }
  limit_looks(options.most_pairs, plan);
  return plan;
}

Result<Json> comparison_document(const CompareOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto document, options.quick.document({"timing"}));
  document["name"] = "compare";
  document.erase("evaluate");
  if (!options.other.empty()) {
    auto second = document["models"][0];
    second["ref"] = options.other;
    document["models"].push_back(std::move(second));
  }
  return document;
}

Status check_two_sides(const std::vector<Case>& cases) {
  if (cases.size() == 2) {
    return {};
  }
  std::string labels;
  for (const auto& cell : cases) {
    labels += "\n  " + label_of(cell);
  }
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("a comparison needs two sides, but this command names {}: give two models, or "
                  "one model and two values of --recipe, --engine, --threads or --option{}",
                  cases.size(), labels));
}

/// Two files of one content are the ordinary case where nothing has changed. A model that is named
/// twice is a mistake.
Result<bool> is_answered_by_identity(const std::vector<Case>& cases) {
  const auto& a = cases.front();
  const auto& b = cases.back();
  if (!are_identical(a, b)) {
    return false;
  }
  if (find_program_format(a.model.ref)) {
    return true;
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("both sides are '{}': give two that differ, or measure it against itself "
                          "with --measure-identical",
                          label_of(a)));
}

ExitCode exit_code_from_verdict(ComparisonVerdict verdict) {
  switch (verdict) {
    case ComparisonVerdict::kSlower:
      return ExitCode::kFindings;
    case ComparisonVerdict::kInconclusive:
      return ExitCode::kInconclusive;
    default:
      return ExitCode::kOk;
  }
}

/// Two runs of the store, which decide nothing.
Result<ExitCode> compare_stored(const CompareOptions& options, const std::string& a) {
  const auto b = find_run_reference(options.other);
  if (!b) {
    return fail(
        ErrorCode::kInvalidArgument,
        "a stored run can only be compared with another stored run: assay compare RUN_A RUN_B");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open_to_read());
  ASSAY_ASSIGN_OR_RETURN(const auto found, compare_stored_runs(*store, a, *b, options.metric));
  ASSAY_RETURN_IF_ERROR(options.output.write(
      {.console =
           [&](bool has_colour) { return report::console_from_stored(found, kWidth, has_colour); },
       .json = [&] { return text_from_json(report::document_from_stored(found)) + "\n"; }}));
  return ExitCode::kOk;
}

Result<Spec> spec_from_document(const Json& document, const CompareOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.flags.toolchain.context("assay compare"));
  return spec_from_json(document, context);
}

/// Names the run and the command that makes its page; empty if nothing was run.
std::string next_commands(const Comparison& comparison, const StoreFlags& store) {
  return comparison.run.empty() ? ""
                                : fmt::format("\nrun {}\n  {} --report report.html\n",
                                              comparison.run, store.report_command(comparison.run));
}

Status write_comparison(const Comparison& comparison, const CompareOptions& options) {
  return options.output.write(
      {.console =
           [&](bool has_colour) {
             return report::console_from_comparison(comparison, kWidth, has_colour) +
                    next_commands(comparison, options.flags.store);
           },
       .json =
           [&] { return text_from_json(report::document_from_comparison(comparison)) + "\n"; }});
}

/// Being asked to stop is no failure: what was measured is kept.
Result<ExitCode> compare_and_print(OneDeviceCampaign campaign, const ComparisonPlan& plan,
                                   ResultStore& store, const CompareOptions& options) {
  campaign.request.context.settings.against.clear();
  const ComparisonRequest request{.context = std::move(campaign.request.context),
                                  .a = std::move(campaign.request.cases.at(0)),
                                  .b = std::move(campaign.request.cases.at(1))};
  const auto comparison = [&] {
    Progress progress(options.flags.run.is_quiet);
    const ArtifactCache cache(assay_home() / "cache");
    return campaign.compare(
        request, plan,
        campaign_tools(store, cache, options.flags.toolchain, options.flags.device, progress));
  }();
  if (!comparison && is_interrupted()) {
    log_line(LogLevel::kInfo, fmt::format("stopped; resume with: assay compare --resume {}",
                                          request.context.run.id));
    return ExitCode::kInterrupted;
  }
  if (!comparison) {
    return std::unexpected(comparison.error());
  }
  ASSAY_RETURN_IF_ERROR(write_comparison(*comparison, options));
  return exit_code_from_verdict(comparison->verdict);
}

/// The two sides and the plan are those that the run began with.
Result<ExitCode> resume_comparison(const CompareOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open());
  ASSAY_ASSIGN_OR_RETURN(const auto begun, find_unfinished_comparison(*store, options.resume));
  ASSAY_ASSIGN_OR_RETURN(const auto run, store->get_run(begun.run));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_document(run.spec, options));
  const auto flags = flags_of_resumed(options.flags, run);
  ASSAY_ASSIGN_OR_RETURN(auto campaign, plan_on_one_device(spec, flags, true));
  ASSAY_RETURN_IF_ERROR(check_two_sides(campaign.request.cases));
  auto& context = campaign.request.context;
  if (options.flags.executor.empty()) {  // A fleet counts what its drivers do once.
    ASSAY_RETURN_IF_ERROR(tell_takeover(run, *store,
                                        {.machines = {{context.device, context.environment}},
                                         .is_run_named = options.resume != kNewestRun,
                                         .command = "assay compare --resume"}));
  }
  context.run = run;
  context.is_resumed = true;
  return compare_and_print(std::move(campaign), begun.plan, *store, options);
}

Result<ExitCode> execute_compare(const CompareOptions& options) {
  ASSAY_RETURN_IF_ERROR(options.output.check());
  if (!options.resume.empty()) {
    return resume_comparison(options);
  }
  if (options.quick.model.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "name two models, or one model and two values of an axis such as --recipe, or "
                "--resume latest");
  }
  ASSAY_ASSIGN_OR_RETURN(auto plan, plan_from(options));
  if (const auto run = find_run_reference(options.quick.model)) {
    return compare_stored(options, *run);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto document, comparison_document(options));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_document(document, options));
  plan.adapts_iterations = spec.measure.adapts_iterations;
  ASSAY_ASSIGN_OR_RETURN(auto campaign, plan_on_one_device(spec, options.flags, true));
  const auto& cases = campaign.request.cases;
  ASSAY_RETURN_IF_ERROR(check_two_sides(cases));
  if (options.flags.run.is_dry_run) {
    print_out("A  {}\nB  {}\n", label_of(cases[0]), label_of(cases[1]));
    return ExitCode::kOk;
  }
  if (!options.measures_identical) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_answered, is_answered_by_identity(cases));
    if (is_answered) {
      ASSAY_RETURN_IF_ERROR(
          write_comparison(identical_comparison(cases.front(), cases.back()), options));
      return ExitCode::kOk;
    }
  }
  campaign.request.context.run.purpose = "compare";
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open());
  return compare_and_print(std::move(campaign), plan, *store, options);
}

}  // namespace

Execute declare_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  // The floor tells most for its time with these values: docs/reference/measuring.md.
  options->quick.iterations = "200";
  options->quick.time_budget = "1s";
  options->quick.declare_model(app);
  app.get_option("model")->required(false);
  app.add_option("other", options->other,
                 "Second model or program (B); or compare two stored runs: RUN_A RUN_B");
  options->quick.declare_iterations(app);
  app.add_option("--metric", options->metric,
                 std::string("Metric that decides the verdict: ") + kMetrics)
      ->capture_default_str();
  app.add_option("--min-effect", options->gate_percent, "Smallest change that matters, in percent")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 100.0));
  app.add_option("--most-pairs", options->most_pairs,
                 "Largest number of launch pairs; the test runs after 10, 20, 40 and 80")
      ->capture_default_str()
      ->check(CLI::Range(10, 80));
  app.add_option("--budget", options->budget,
                 "Time limit for the pairs without the confirmation, such as 5min [default: none]");
  app.add_flag("--no-canary", options->has_no_canary, "Do not launch a copy of A as a control");
  app.add_flag("--no-pinning", options->is_not_pinned,
               "Let the system choose the cores instead of pinning each pair to the same ones");
  app.add_flag(
      "--duet", options->tries_duet,
      "Run both sides at once on separate cores if a pilot shows that this decides sooner");
  app.add_flag("--measure-identical", options->measures_identical,
               "Measure files of equal content, too, instead of reporting them as identical");
  app.add_option("--resume", options->resume,
                 "Resume a stopped comparison, by the id of its run or latest");
  options->output.declare(app);
  options->flags.run.declare(app);
  options->flags.run.declare_job_timeout(app);
  options->flags.device.declare(app);
  declare_executor(app, options->flags.executor);
  app.remove_option(app.get_option("--only"));  // Both sides are always wanted.
  options->flags.toolchain.declare(app);
  options->flags.store.declare(app);
  return [options] { return execute_compare(*options); };
}

}  // namespace assay::cli
