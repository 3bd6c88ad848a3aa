#include "assay/cli/reduce_run.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/conform_options.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/reduce_one.h"
#include "assay/conform/conform.h"
#include "assay/conform/conform_case.h"
#include "assay/conform/glob.h"
#include "assay/record/conformance.h"
#include "assay/record/run.h"
#include "assay/reduce/bundle.h"
#include "assay/reduce/candidate.h"
#include "assay/reduce/failure_groups.h"
#include "assay/reduce/failure_index.h"

namespace assay::cli {
namespace {

namespace stdfs = std::filesystem;

using Candidates = std::map<std::string, ReduceCandidate>;  ///< By the name of the case.

Status check(const ReduceOptions& options) {
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

/// The cases that the run had to choose from.
Result<Candidates> candidates_of(const Run& run, const ReduceOptions& options,
                                 const CampaignTools& tools) {
  const auto what = run.spec.get<ConformOptions>();
  ASSAY_ASSIGN_OR_RETURN(const auto listing,
                         list_cases(what.selection(), options.flags.toolchain.jobs, tools));
  Candidates candidates;
  for (const auto& one : listing.cases) {
    candidates[one.name] = {.model = one.model, .inputs = one.inputs};
  }
  return candidates;
}

bool is_wanted_failure(const FailureGroup& group, const ReduceOptions& options) {
  const auto& result = *group.smallest;
  const auto& recipes = options.quick.recipes;
  const auto is_match = [&result](const std::string& pattern) {
    return is_glob_match(pattern, result.operator_name) || is_glob_match(pattern, result.name);
  };
  return (recipes.empty() || std::ranges::find(recipes, result.recipe) != recipes.end()) &&
         (options.match.empty() || std::ranges::any_of(options.match, is_match));
}

/// The flags that reduce this case alone.
ReduceOptions options_for(const ConformResult& result, const ReduceOptions& options,
                          const std::string& folder) {
  auto one = options;
  one.quick.model = result.name;
  one.quick.recipes = {result.recipe};
  one.quick.engines = {result.engine};
  std::istringstream words(result.options);
  for (std::string word; words >> word;) {
    one.quick.options.push_back(word);
  }
  one.bundle = (stdfs::path(options.bundle) / folder).string();
  one.replay = one.bundle + "/replay.jsonl";
  return one;
}

Result<ReducedFailure> reduce_group(const FailureGroup& group, const Candidates& candidates,
                                    const ReduceOptions& options, const CampaignTools& tools) {
  const auto& result = *group.smallest;
  ReducedFailure failure{.group = group, .folder = folder_of_failure(result)};
  const auto found = candidates.find(result.name);
  if (found == candidates.end()) {
    failure.error = "this version of Assay has no such case";
    return failure;
  }
  const auto one = options_for(result, options, failure.folder);
  std::error_code error;
  stdfs::create_directories(one.bundle, error);
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot make {}: {}", one.bundle, error.message()));
  }
  auto reduced = reduce_one(one, tools, found->second);
  if (reduced) {
    failure.report = std::move(reduced->report);
  } else {
    failure.error = reduced.error().message;
  }
  return failure;
}

std::vector<FailureGroup> wanted_groups(const ConformReport& report, const Candidates& candidates,
                                        const ReduceOptions& options) {
  auto groups = group_failures(report, [&candidates](const std::string& name) {
    const auto found = candidates.find(name);
    return found == candidates.end() ? std::vector<double>() : size_of(found->second);
  });
  std::erase_if(
      groups, [&options](const FailureGroup& group) { return !is_wanted_failure(group, options); });
  return groups;
}

/// Up to an interrupt; the index is written after each.
Result<std::vector<ReducedFailure>> reduce_groups(const std::vector<FailureGroup>& groups,
                                                  const std::string& run,
                                                  const Candidates& candidates,
                                                  const ReduceOptions& options,
                                                  const CampaignTools& tools) {
  std::vector<ReducedFailure> failures;
  for (const auto& group : groups) {
    ASSAY_ASSIGN_OR_RETURN(auto failure, reduce_group(group, candidates, options, tools));
    if (is_interrupted()) {
      break;
    }
    failures.push_back(std::move(failure));
    ASSAY_RETURN_IF_ERROR(write_failure_index(options.bundle, run, failures));
    if (!options.flags.run.is_quiet) {
      log_line(LogLevel::kInfo, fmt::format("{}/{} {}", failures.size(), groups.size(),
                                            line_of_failure(failures.back())));
    }
  }
  return failures;
}

void print(const std::string& run, const std::vector<ReducedFailure>& failures,
           const ReduceOptions& options) {
  if (options.format == "json") {
    write_stdout(text_of_document(document_of_failures(run, failures)) + "\n");
  } else {
    print_out("{}; {}/README.md\n", totals_of_failures(failures), options.bundle);
  }
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

}  // namespace

Result<ExitCode> reduce_run(const ReduceOptions& options, const CampaignTools& tools) {
  ASSAY_RETURN_IF_ERROR(check(options));
  ASSAY_ASSIGN_OR_RETURN(const auto run, get_conform_run(tools.store, options.run));
  ASSAY_ASSIGN_OR_RETURN(const auto report, read_conform_report(tools.store, run));
  ASSAY_ASSIGN_OR_RETURN(const auto candidates, candidates_of(run, options, tools));
  const auto groups = wanted_groups(report, candidates, options);
  ASSAY_ASSIGN_OR_RETURN(const auto failures,
                         reduce_groups(groups, run.id, candidates, options, tools));
  print(run.id, failures, options);
  return exit_code_from_failures(failures);
}

}  // namespace assay::cli
