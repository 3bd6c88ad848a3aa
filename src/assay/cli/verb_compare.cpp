#include <cstddef>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "assay/artifact/cache.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/progress.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/verb.h"
#include "assay/compare/compare.h"
#include "assay/compare/reduction.h"
#include "assay/compare/stored.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/report/comparison.h"
#include "assay/report/stored_comparison.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

constexpr std::size_t kWidth = 120;
constexpr const char* kMetrics = "steady_floor_ns, steady_ns, steady_p90_ns, first_ns, load_ns";

struct Options {
  QuickSpec quick;
  CampaignFlags flags;
  std::string other;
  std::string metric = "steady_floor_ns";
  std::string budget;
  std::string format = "console";
  double gate_percent = 2;
  int most_pairs = 80;
  bool has_no_canary = false;
  bool is_not_pinned = false;
};

Result<ComparePlan> plan_from(const Options& options) {
  ComparePlan plan{.metric = options.metric,
                   .gate_ratio = options.gate_percent / 100,
                   .has_canary = !options.has_no_canary,
                   .is_pinned = !options.is_not_pinned};
  const auto known = compared_metrics(options.metric);
  if (known.front() != options.metric) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--metric {}: one of {}", options.metric, kMetrics));
  }
  if (!options.budget.empty()) {
    ASSAY_ASSIGN_OR_RETURN(plan.budget_ns, duration_ns_from_text(options.budget));
  }
  while (plan.looks.size() > 1 && plan.looks.back() > options.most_pairs) {
    plan.looks.pop_back();
    // What the dropped looks would have spent is spent at the last one.
    const double left = plan.alpha.back();
    plan.alpha.pop_back();
    plan.alpha.back() += left;
  }
  return plan;
}

Result<Json> document_of(const Options& options) {
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
      fmt::format("a comparison has two sides; this names {}: give two models, or one model "
                  "and two of --recipe, --engine, --threads or --option{}",
                  cases.size(), labels));
}

ExitCode exit_code_of(ComparisonVerdict verdict) {
  switch (verdict) {
    case ComparisonVerdict::kSlower:
      return ExitCode::kFindings;
    case ComparisonVerdict::kInconclusive:
      return ExitCode::kInconclusive;
    default:
      return ExitCode::kOk;
  }
}

constexpr std::string_view kRunPrefix = "run:";

/// "run:latest run:01a2": two runs of the store, which decide nothing.
Result<ExitCode> compare_stored(const Options& options) {
  if (!options.other.starts_with(kRunPrefix)) {
    return fail(ErrorCode::kInvalidArgument,
                "a stored run is compared with another one: assay compare run:ID run:ID");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open());
  ASSAY_ASSIGN_OR_RETURN(
      const auto found,
      compare_stored_runs(*store, std::string_view(options.quick.model).substr(kRunPrefix.size()),
                          std::string_view(options.other).substr(kRunPrefix.size()),
                          options.metric));
  fmt::print("{}", options.format == "json"
                       ? report::document_from_stored(found).dump() + "\n"
                       : report::console_from_stored(found, kWidth, ::isatty(STDOUT_FILENO) != 0));
  return ExitCode::kOk;
}

Result<ExitCode> execute(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, plan_from(options));
  if (options.quick.model.starts_with(kRunPrefix)) {
    return compare_stored(options);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto document, document_of(options));
  ASSAY_ASSIGN_OR_RETURN(
      const auto spec,
      spec_from_json(document, {.origin = "assay compare",
                                .folder = ".",
                                .has_plugins = !options.flags.toolchain.plugins.empty()}));
  ASSAY_ASSIGN_OR_RETURN(auto request, plan_campaign(spec, options.flags));
  ASSAY_RETURN_IF_ERROR(check_two_sides(request.cases));
  if (options.flags.run.is_dry_run) {
    fmt::print("A  {}\nB  {}\n", label_of(request.cases[0]), label_of(request.cases[1]));
    return ExitCode::kOk;
  }
  request.run.purpose = "compare";
  request.settings.against.clear();
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open());
  std::optional<Comparison> comparison;
  {
    Progress progress(options.flags.run.is_quiet);
    const ArtifactCache cache(assay_home() / "cache");
    ASSAY_ASSIGN_OR_RETURN(
        comparison, run_comparison(request, plan,
                                   local_tools(*store, cache, options.flags.toolchain, progress)));
  }
  if (options.format == "json") {
    fmt::print("{}\n", report::document_from_comparison(*comparison).dump());
  } else {
    fmt::print("{}",
               report::console_from_comparison(*comparison, kWidth, ::isatty(STDOUT_FILENO) != 0));
  }
  return exit_code_of(comparison->verdict);
}

}  // namespace

Execute declare_compare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->quick.declare_model(app);
  app.add_option("other", options->other,
                 "B, where it is another model or program; or two runs: run:ID run:ID");
  options->quick.declare_iterations(app);
  app.add_option("--metric", options->metric, std::string("Which decides: ") + kMetrics)
      ->capture_default_str();
  app.add_option("--matters", options->gate_percent, "The least change that matters, percent")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 100.0));
  app.add_option("--most-pairs", options->most_pairs, "Of launches; looks are at 10, 20, 40, 80")
      ->capture_default_str()
      ->check(CLI::Range(10, 80));
  app.add_option("--budget", options->budget, "Of all pairs but the confirmation, with unit");
  app.add_flag("--no-canary", options->has_no_canary, "No launches of a copy of A beside A");
  app.add_flag("--no-pinning", options->is_not_pinned, "Let the system choose the cores");
  app.add_option("--format", options->format, "console or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"console", "json"}));
  options->flags.run.declare(app);
  app.remove_option(app.get_option("--only"));  // Both sides are always wanted.
  options->flags.toolchain.declare(app);
  options->flags.store.declare(app);
  return [options] { return execute(*options); };
}

}  // namespace assay::cli
