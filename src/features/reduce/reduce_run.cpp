#include "features/reduce/reduce_run.h"

#include "features/conform/conform.h"
#include "features/conform/conform_case.h"
#include "features/conform/glob.h"
#include "features/reduce/candidate.h"
#include "features/reduce/failure_groups.h"
#include "features/reduce/failure_index.h"
#include "features/reduce/reduce_one.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

using Candidates = std::map<std::string, ReduceCandidate>;  ///< By the name of the case.

/// The cases that the run had to choose from.
Result<Candidates> candidates_of(const ReduceRunRequest& request, const CampaignTools& tools) {
  ASSAY_ASSIGN_OR_RETURN(const auto listing,
                         list_cases(request.selection, request.parallel_jobs, tools));
  Candidates candidates;
  for (const auto& one : listing.cases) {
    candidates[one.name] = {.model = one.model, .inputs = one.inputs};
  }
  return candidates;
}

bool is_wanted_failure(const FailureGroup& group, const ReduceRunRequest& request) {
  const auto& result = *group.smallest;
  const auto& recipes = request.recipes;
  const auto is_match = [&result](const std::string& pattern) {
    return is_glob_match(pattern, result.operator_name) || is_glob_match(pattern, result.name);
  };
  return (recipes.empty() || std::ranges::find(recipes, result.recipe) != recipes.end()) &&
         (request.match.empty() || std::ranges::any_of(request.match, is_match));
}

Result<Reduced> reduce_smallest(const ConformResult& result, const stdfs::path& folder,
                                const ReduceCandidate& candidate, const ReduceRunRequest& request,
                                const CampaignTools& tools) {
  ASSAY_ASSIGN_OR_RETURN(const auto one, request.plan(result, folder));
  return reduce_one(one, tools, candidate);
}

Result<ReducedFailure> reduce_group(const FailureGroup& group, const Candidates& candidates,
                                    const ReduceRunRequest& request, const CampaignTools& tools) {
  const auto& result = *group.smallest;
  ReducedFailure failure{.group = group, .folder = folder_of_failure(result)};
  const auto candidate = candidates.find(result.name);
  if (candidate == candidates.end()) {
    failure.error = "this version of Assay has no such case";
    return failure;
  }
  const auto folder = request.bundle / failure.folder;
  std::error_code error;
  stdfs::create_directories(folder, error);
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot make {}: {}", folder.string(), error.message()));
  }
  auto reduced = reduce_smallest(result, folder, candidate->second, request, tools);
  if (reduced) {
    failure.report = std::move(reduced->report);
  } else {
    failure.error = reduced.error().message;
  }
  return failure;
}

std::vector<FailureGroup> wanted_groups(const ConformReport& report, const Candidates& candidates,
                                        const ReduceRunRequest& request) {
  auto groups = group_failures(report, [&candidates](const std::string& name) {
    const auto candidate = candidates.find(name);
    return candidate == candidates.end() ? std::vector<double>() : size_of(candidate->second);
  });
  std::erase_if(
      groups, [&request](const FailureGroup& group) { return !is_wanted_failure(group, request); });
  return groups;
}

}  // namespace

Result<std::vector<ReducedFailure>> reduce_run(const ConformReport& report,
                                               const ReduceRunRequest& request,
                                               const CampaignTools& tools) {
  ASSAY_ASSIGN_OR_RETURN(const auto candidates, candidates_of(request, tools));
  const auto groups = wanted_groups(report, candidates, request);
  std::vector<ReducedFailure> failures;
  for (const auto& group : groups) {
    ASSAY_ASSIGN_OR_RETURN(auto failure, reduce_group(group, candidates, request, tools));
    if (request.is_interrupted()) {
      break;
    }
    failures.push_back(std::move(failure));
    ASSAY_RETURN_IF_ERROR(write_failure_index(request.bundle, report.run.id, failures));
    request.on_reduced(
        fmt::format("{}/{} {}", failures.size(), groups.size(), line_of_failure(failures.back())));
  }
  return failures;
}

}  // namespace assay
