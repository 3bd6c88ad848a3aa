#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/execute_on_fleet.h"
#include "assay/cli/execute_spec.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/import_flags.h"
#include "assay/cli/tell_takeover.h"
#include "assay/cli/verb.h"
#include "assay/record/run.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

constexpr const char* kPurposeOfSpecs = "measure";

struct RunOptions {
  std::string spec_file;
  std::string resume;
  CampaignFlags flags;
  ImportFlags imports;
};

/// The run of that reference. "latest" is the newest that is not finished: what was made since a
/// run was stopped is not what its author wants to resume. Where all are finished, the newest.
Result<Run> run_to_go_on_with(const std::string& reference, ResultStore& store) {
  if (reference == kNewestRun) {
    ASSAY_ASSIGN_OR_RETURN(
        const auto runs,
        store.list_runs({.limit = -1, .purpose = kPurposeOfSpecs, .has_details = false}));
    const auto open = std::ranges::find_if(
        runs, [](const RunListing& one) { return one.run.finished_unix_ns == 0; });
    if (open != runs.end()) {
      return open->run;
    }
  }
  return store.get_run(reference);
}

/// The newest stopped run, or the one named, goes on with the spec that it was started with.
Result<ExitCode> resume_run(const RunOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open());
  ASSAY_ASSIGN_OR_RETURN(const auto run, run_to_go_on_with(options.resume, *store));
  if (run.finished_unix_ns != 0 && !options.flags.run.is_dry_run) {
    log_line(LogLevel::kInfo,
             fmt::format("{}run {} is already finished; this is its report",
                         options.resume == kNewestRun ? "no run is stopped, and the newest " : "",
                         run.id));
    return report_stored_run(*store, run, options.flags);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.flags.toolchain.context("run " + run.id));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_json(run.spec, context));
  auto flags = flags_of_resumed(options.flags, run);
  flags.is_run_named = options.resume != kNewestRun;
  return execute_spec(spec, flags, run);
}

/// The tests of a file of FAI-PEP, each as a command program.
Result<ExitCode> run_specification(const RunOptions& options) {
  if (options.flags.run.is_dry_run && options.imports.as.empty()) {
    ASSAY_RETURN_IF_ERROR(print_tests(options.spec_file, options.imports));
    return ExitCode::kOk;
  }
  ASSAY_ASSIGN_OR_RETURN(
      const auto document,
      spec_from_specification(options.spec_file, options.imports,
                              folder_of_imports(options.spec_file, options.imports)));
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.flags.toolchain.context(options.spec_file));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_json(document, context));
  auto flags = options.flags;
  flags.report.inputs.push_back(options.spec_file);
  return execute_spec(spec, flags);
}

Result<ExitCode> execute_run(const RunOptions& options) {
  if (!options.resume.empty() && !options.spec_file.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "a run resumes with the spec that it was begun with: give a spec, or --resume");
  }
  if (!options.resume.empty()) {
    return resume_run(options);
  }
  if (options.spec_file.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "give a spec file, such as specs/mobilenet.json, or --resume latest");
  }
  if (options.spec_file.starts_with('{')) {
    ASSAY_ASSIGN_OR_RETURN(const auto document, parse_json(options.spec_file, "the spec"));
    ASSAY_ASSIGN_OR_RETURN(const auto context, options.flags.toolchain.context("the spec"));
    ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_json(document, context));
    return execute_spec(spec, options.flags);
  }
  if (is_specification_file(options.spec_file)) {
    return run_specification(options);
  }
  ASSAY_ASSIGN_OR_RETURN(auto context, options.flags.toolchain.context(options.spec_file));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, read_spec_file(options.spec_file, std::move(context)));
  auto flags = options.flags;
  flags.report.inputs.push_back(options.spec_file);
  return execute_spec(spec, flags);
}

}  // namespace

Execute declare_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option(
      "spec", options->spec_file,
      "Spec file (docs/reference/specs.md), the spec itself as JSON, or a file of FAI-PEP");
  app.add_option("--resume", options->resume, "Resume a stopped run, by id or latest")
      ->expected(0, 1)
      ->default_str(kNewestRun);
  options->flags.declare(app);
  options->imports.declare(app);
  return [options] { return execute_run(*options); };
}

}  // namespace assay::cli
