#include "features/watch/repository_runner.h"

#include "features/compare/compare.h"
#include "features/compare/comparison_request.h"
#include "features/compare/identity.h"
#include "features/repository/build_cache.h"
#include "features/repository/build_entry.h"
#include "features/repository/builder.h"
#include "features/repository/engine_registration.h"
#include "features/watch/explanation.h"
#include "features/watch/revision_runner.h"
#include "features/watch/run_points.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/instructions.h"
#include "assay/campaign/request_from_spec.h"
#include "assay/campaign/resume.h"
#include "assay/device/environment.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"
#include "assay/summary/summarize.h"

namespace assay::watch {
namespace {

constexpr const char* kIncidentLabel = "incident";
constexpr const char* kAttemptLabel = "attempt";
/// An operator has a part of the time, and so more noise than the whole.
constexpr int kLaunchesOfProfile = 4;
/// A comparison has two builds; its reference and a candidate come with them.
constexpr std::size_t kBuildsInUse = 4;

/// The case of the wanted key on each of two builds.
struct PairOfCases {
  const Case* a = nullptr;
  const Case* b = nullptr;
};

PairOfCases find_pair(const std::vector<Case>& cases, const BuildPair& pair) {
  PairOfCases found;
  for (const auto& cell : cases) {
    if (case_key(cell) == pair.case_key) {
      if (cell.engine_build == pair.a.reference()) {
        found.a = &cell;
      } else if (cell.engine_build == pair.b.reference()) {
        found.b = &cell;
      }
    }
  }
  return found;
}

bool is_made_for(const Run& run, const BuildPair& pair) {
  const auto has = [&run](const char* label, const std::string& value) {
    const auto found = run.labels.find(label);
    return (found == run.labels.end() ? "" : found->second) == value;
  };
  return has(kIncidentLabel, pair.incident) && has(kAttemptLabel, pair.attempt);
}

Status keep_wanted_cases(const std::string& only, const std::string& origin,
                         std::vector<Case>& cases) {
  std::vector<std::string> labels;
  std::ranges::transform(cases, std::back_inserter(labels), label_of);
  std::erase_if(cases, [&only](const Case& cell) { return !label_of(cell).contains(only); });
  return cases.empty() && !labels.empty() ? check_only(only, origin, labels) : Status();
}

}  // namespace

Status check_only(const std::string& only, const std::string& origin,
                  const std::vector<std::string>& labels) {
  const bool is_there = std::ranges::any_of(
      labels, [&only](const std::string& label) { return label.contains(only); });
  return is_there
             ? Status()
             : fail(ErrorCode::kNotFound, fmt::format("no case of {} has '{}' in its label{}",
                                                      origin, only, suggestion_for(only, labels)));
}

Result<std::vector<std::string>> RepositoryRunner::labels_of_cases(const RevisionBuild& build) {
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_for({build}, Json::object()));
  ASSAY_ASSIGN_OR_RETURN(const auto planned, request_for(spec, "", {}));
  std::vector<std::string> labels;
  std::ranges::transform(planned.request.cases, std::back_inserter(labels), label_of);
  return labels;
}

Result<BuildEntry> RepositoryRunner::take_build(const Revision& revision) {
  const auto folder = builds_folder(parts_.home);
  auto& cache = in_use_.emplace_back(folder);
  ASSAY_ASSIGN_OR_RETURN(auto built, build_revision(parts_.mirror, cache, revision.hash,
                                                    {.spec = parts_.spec,
                                                     .environment = parts_.environment,
                                                     .home = parts_.home,
                                                     .keep_going = parts_.keep_going}));
  while (in_use_.size() > kBuildsInUse) {
    in_use_.pop_front();
  }
  ASSAY_ASSIGN_OR_RETURN(const auto pruned,
                         BuildCache(folder).prune(parts_.spec.policy.keep_builds_bytes, {}));
  if (!pruned.removed.empty()) {
    ASSAY_RETURN_IF_ERROR(unregister_pruned(parts_.home));
  }
  return std::move(built.entry);
}

Result<RevisionBuild> RepositoryRunner::build(const Revision& revision) {
  ASSAY_ASSIGN_OR_RETURN(const auto entry, take_build(revision));
  auto record = record_of_build(parts_.spec, parts_.environment, revision.hash, entry, nullptr);
  auto& store = parts_.tools.store;
  ASSAY_RETURN_IF_ERROR(store.add_repository(parts_.spec.repository));
  ASSAY_RETURN_IF_ERROR(store.add_revisions({&revision, 1}));
  ASSAY_RETURN_IF_ERROR(store.add_engine_build(record));
  if (record.outcome == BuildOutcome::kBuilt) {
    const auto registered =
        register_revision(parts_.spec, parts_.environment, revision.hash, entry, parts_.home);
    if (!registered) {
      // A runner that cannot describe itself is the revision's fault, not the tool's.
      record.outcome = BuildOutcome::kFailed;
      record.reason = registered.error().message;
      ASSAY_RETURN_IF_ERROR(store.add_engine_build(record));
    }
  }
  return record;
}

std::map<std::string, std::string> RepositoryRunner::labels_of(const RevisionBuild& build) const {
  auto labels = parts_.spec.labels;
  labels["commit"] = build.revision;
  labels["engine"] = build.engine;
  labels["environment"] = build.environment;
  return labels;
}

Result<Json> RepositoryRunner::read_document() const {
  if (!parts_.spec.measured.is_null()) {
    return parts_.spec.measured;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto text, read_file(parts_.spec.spec));
  return parse_json(text, parts_.spec.spec.string());
}

Result<Spec> RepositoryRunner::spec_for(const std::vector<RevisionBuild>& builds,
                                        const Json& changes) {
  ASSAY_ASSIGN_OR_RETURN(auto document, read_document());
  document["engines"] = Json::array();
  for (const auto& build : builds) {
    document["engines"].push_back(build.reference());
  }
  document.merge_patch(changes);
  auto context = parts_.context;
  if (parts_.spec.measured.is_null()) {
    context.origin = parts_.spec.spec.string();
    context.folder = parts_.spec.spec.parent_path();
  }
  return spec_from_json(document, context);
}

MeasuringPlace measured_here(const std::filesystem::path& home) {
  return {.device = [home]() -> Result<PlannedDevice> {
            return PlannedDevice{.environment = read_environment(),
                                 .installed = find_installed_builds(home)};
          },
          .execute = run_campaign,
          .compare = run_comparison};
}

Status RepositoryRunner::check_spec() {
  RevisionBuild any;
  any.engine = parts_.spec.repository.engine;
  any.label = "any";
  const auto spec = spec_for({any}, Json::object());
  return spec ? Status() : std::unexpected(spec.error());
}

Result<PlannedRequest> RepositoryRunner::request_for(
    Spec spec, std::string_view purpose, const std::map<std::string, std::string>& labels) {
  auto options = parts_.options;
  options.labels = labels;
  ASSAY_ASSIGN_OR_RETURN(auto device, parts_.place.device());
  if (!parts_.place.is_here) {
    spec.devices = {device.name};
    spec.document["devices"] = spec.devices;
  }
  ASSAY_ASSIGN_OR_RETURN(auto planned,
                         request_from_spec(spec, std::move(options), std::move(device)));
  planned.request.context.run.purpose = purpose;
  if (purpose == kWatchPurpose && !parts_.only.empty()) {
    ASSAY_RETURN_IF_ERROR(keep_wanted_cases(parts_.only, spec.origin, planned.request.cases));
  }
  if (planned.request.cases.empty()) {
    std::string reasons;
    for (const auto& refused : planned.refused) {
      reasons += fmt::format("\n  {} on {}: {}", refused.model, refused.engine, refused.reason);
    }
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: no case can run on {}{}", spec.origin,
                                                         parts_.spec.repository.engine, reasons));
  }
  return planned;
}

Result<std::optional<Run>> RepositoryRunner::find_run(
    std::string_view purpose, const std::map<std::string, std::string>& labels, bool is_finished) {
  ASSAY_ASSIGN_OR_RETURN(const auto runs,
                         parts_.tools.store.list_runs(
                             {.limit = -1, .purpose = std::string(purpose), .labels = labels}));
  const auto found = std::ranges::find_if(runs, [&](const RunListing& listing) {
    return (listing.run.finished_unix_ns != 0) == is_finished &&
           listing.run.labels.contains(kOnlyLabel) == labels.contains(kOnlyLabel);
  });
  return found == runs.end() ? std::optional<Run>() : std::optional(found->run);
}

Result<std::optional<RepositoryRunner::Begun>> RepositoryRunner::find_comparison(
    const BuildPair& pair, const std::map<std::string, std::string>& labels) {
  auto& store = parts_.tools.store;
  ASSAY_ASSIGN_OR_RETURN(const auto runs,
                         store.list_runs({.limit = -1, .purpose = "verify", .labels = labels}));
  for (const auto& listing : runs) {
    const auto& run = listing.run;
    if (!is_made_for(run, pair)) {
      continue;
    }
    const bool is_finished = run.finished_unix_ns != 0;
    if (is_finished && pair.incident.empty()) {
      continue;  // Who asks without an incident wants fresh pairs.
    }
    ASSAY_ASSIGN_OR_RETURN(const auto comparisons, store.comparisons_of_run(run.id));
    if (!comparisons.empty() && comparisons.back().a_case == pair.case_key) {
      return Begun{.run = run, .comparison = comparisons.back()};
    }
    if (comparisons.empty() && !is_finished) {  // Its process died before it knew its pair.
      ASSAY_RETURN_IF_ERROR(store.remove_run(run.id));
    }
  }
  return std::optional<Begun>();
}

Result<Run> RepositoryRunner::run_sitting(const std::vector<RevisionBuild>& builds,
                                          const Json& changes, std::string_view purpose,
                                          const std::map<std::string, std::string>& labels,
                                          const BeforeEnd& before_end) {
  auto& store = parts_.tools.store;
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_for(builds, changes));
  ASSAY_ASSIGN_OR_RETURN(auto planned, request_for(spec, purpose, labels));
  auto& request = planned.request;
  ASSAY_ASSIGN_OR_RETURN(const auto unfinished, find_run(purpose, labels, /*is_finished=*/false));
  if (unfinished) {
    request.context.run = *unfinished;
    request.context.is_resumed = true;
    if (parts_.place.is_here) {  // The cases of a fleet's run come with its parts.
      ASSAY_RETURN_IF_ERROR(keep_cases_of_run(unfinished->id, store, {&request, 1}));
    }
  }
  request.finishes_run = !before_end;
  ASSAY_RETURN_IF_ERROR(parts_.place.execute(request, parts_.tools));
  if (before_end) {
    ASSAY_RETURN_IF_ERROR(before_end(request));
  }
  // Also where the spec has lost a case since the sitting began: nobody waits for it.
  ASSAY_RETURN_IF_ERROR(store.finish_run(request.context.run.id, unix_time_ns()));
  return store.get_run(request.context.run.id);
}

Result<Run> RepositoryRunner::measure(const Sitting& sitting, std::string_view purpose,
                                      int rounds) {
  std::vector<RevisionBuild> builds;
  auto labels = labels_of(sitting.build);
  if (sitting.reference) {
    builds.push_back(*sitting.reference);
    labels["reference"] = sitting.reference->revision;
  }
  builds.push_back(sitting.build);
  if (purpose == kWatchPurpose && !parts_.only.empty()) {
    labels[kOnlyLabel] = parts_.only;
  }
  if (!sitting.incident.empty()) {
    labels[kIncidentLabel] = sitting.incident;
  }
  Json changes{{"measure", {{"launches", rounds}}}};
  if (sitting.reference) {
    ASSAY_ASSIGN_OR_RETURN(const auto document, read_document());
    if (document.contains("evaluate")) {
      changes["evaluate"]["against"] = {"engine:" + sitting.reference->reference()};
    }
  }
  return run_sitting(builds, changes, purpose, labels);
}

Result<Comparison> RepositoryRunner::compare(const BuildPair& pair, const ComparisonPlan& plan) {
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_for({pair.a, pair.b}, Json::object()));
  auto labels = labels_of(pair.b);
  labels["against"] = pair.a.revision;
  if (!pair.incident.empty()) {
    labels[kIncidentLabel] = pair.incident;
  }
  if (!pair.attempt.empty()) {
    labels[kAttemptLabel] = pair.attempt;
  }
  ASSAY_ASSIGN_OR_RETURN(auto planned, request_for(spec, "verify", labels));
  const auto sides = find_pair(planned.request.cases, pair);
  if (sides.a == nullptr || sides.b == nullptr) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("{}: its cases have changed, and none is the one to be verified", spec.origin));
  }
  if (pair.a.output_digest == pair.b.output_digest) {
    return identical_comparison(*sides.a, *sides.b);
  }
  planned.request.context.settings.against.clear();
  ASSAY_ASSIGN_OR_RETURN(const auto begun, find_comparison(pair, labels));
  if (begun && begun->run.finished_unix_ns != 0) {
    return begun->comparison;
  }
  if (begun) {
    planned.request.context.run = begun->run;
    planned.request.context.is_resumed = true;
  }
  const ComparisonRequest request{
      .context = std::move(planned.request.context), .a = *sides.a, .b = *sides.b};
  return parts_.place.compare(request, plan, parts_.tools);
}

Result<Run> RepositoryRunner::run_once(const BuildPair& pair, const Json& measure,
                                       std::string_view purpose, const BeforeEnd& before_end) {
  auto labels = labels_of(pair.b);
  labels["reference"] = pair.a.revision;
  ASSAY_ASSIGN_OR_RETURN(auto earlier, find_run(purpose, labels, /*is_finished=*/true));
  return earlier
             ? Result<Run>(*std::move(earlier))
             : run_sitting({pair.a, pair.b}, {{"measure", measure}}, purpose, labels, before_end);
}

Result<Json> RepositoryRunner::explain(const BuildPair& pair) {
  const int launches = kLaunchesOfProfile * parts_.spec.policy.rounds;
  ASSAY_ASSIGN_OR_RETURN(
      const auto run,
      run_once(pair, {{"passes", {"profile", "timing"}}, {"launches", launches}}, "explain"));
  ASSAY_ASSIGN_OR_RETURN(const auto summary, summarize_run(parts_.tools.store, run, {}));
  auto explanation = explain_by_operators(find_rows(summary, pair));
  explanation["profile_run"] = run.id;
  return explanation;
}

Result<Json> RepositoryRunner::count_instructions(const BuildPair& pair) {
  if (!parts_.place.is_here) {
    return Json{{"unavailable", "instructions are counted on the watcher's machine only"}};
  }
  const auto count = [this, &pair](CampaignRequest& request) {
    std::erase_if(request.cases,
                  [&pair](const Case& cell) { return case_key(cell) != pair.case_key; });
    return assay::count_instructions(request, parts_.tools, {.valgrind = find_valgrind()});
  };
  ASSAY_ASSIGN_OR_RETURN(const auto run,
                         run_once(pair, {{"passes", {"profile"}}}, "instructions", count));
  ASSAY_ASSIGN_OR_RETURN(const auto summary, summarize_run(parts_.tools.store, run, {}));
  return explain_by_functions(find_rows(summary, pair));
}

Result<std::vector<std::string>> RepositoryRunner::changed_files(const Revision& revision) {
  return parts_.mirror.changed_files(revision.hash);
}

}  // namespace assay::watch
