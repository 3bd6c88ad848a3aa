#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/conform_report.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"
#include "assay/summary/summarize.h"

namespace assay::cli {
namespace {

struct ReportOptions {
  std::string run = "latest";
  bool has_accuracy_tables = false;
  StoreFlags store;
  ReportFlags report;
};

Result<ExitCode> execute_report(const ReportOptions& options) {
  ASSAY_RETURN_IF_ERROR(options.report.check());
  if (options.report.is_list()) {
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.store.open_to_read());
  ASSAY_ASSIGN_OR_RETURN(const auto run, store->get_run(options.run));
  auto report = options.report;
  report.suggest_reports(run.id, options.store);
  if (run.purpose == "conform") {
    return show_stored_conformance(report, *store, run);
  }
  auto baseline = options.report.baseline;
  if (baseline.empty() && run.spec.is_object()) {
    baseline = run.spec.value("baseline", "");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto summary, summarize_run(*store, run, {.baseline = baseline}));
  std::vector<std::string> recipes;
  std::ranges::transform(summary.cases, std::back_inserter(recipes), &CaseSummary::recipe);
  ASSAY_RETURN_IF_ERROR(options.report.check_baseline(recipes));
  ASSAY_RETURN_IF_ERROR(report.write(summary, options.has_accuracy_tables));
  return exit_code_from_summary(summary);
}

}  // namespace

Execute declare_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("run", options->run, "Run id, the beginning of one, or latest")
      ->capture_default_str();
  app.add_flag("--accuracy", options->has_accuracy_tables, "Show the errors of each output, too");
  app.add_flag("--memory", options->report.has_memory_tables,
               "Show the memory of each case by part and stage and its leak check, too");
  options->report.declare(app);
  options->store.declare(app);
  return [options] { return execute_report(*options); };
}

}  // namespace assay::cli
