#include "assay/campaign/instructions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/find_on_path.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/callgrind_file.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/case_launch.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/preparation.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/metric.h"
#include "assay/record/profile.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::int64_t kLaunchLimitNs = 3'600'000'000'000;
constexpr std::size_t kMostFunctions = 100;
constexpr const char* kNoValgrind =
    "valgrind is not installed (Debian, Ubuntu: apt install valgrind; Fedora: dnf install "
    "valgrind)";

/// The engine's number of threads; 1 if it reports something else than a number.
int threads_in(const Json& effective_options) {
  const auto threads = effective_options.find("threads");
  return threads != effective_options.end() && threads->is_number_integer() ? threads->get<int>()
                                                                            : 1;
}

struct CountedLaunch {
  CallgrindCosts costs;
  int threads = 1;  ///< Option in effect, where the engine has it.
};

/// Costs of all processes of a launch: a command program runs in one of its own. Errors: kNotFound
/// where callgrind wrote nothing.
Result<CallgrindCosts> costs_of_processes(const stdfs::path& folder, const std::string& prefix) {
  CallgrindCosts sum;
  for (const auto& entry : stdfs::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with(prefix)) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto text, read_file(entry.path()));
    ASSAY_ASSIGN_OR_RETURN(const auto costs, callgrind_costs_from_text(text));
    sum.tool = costs.tool;
    sum.total += costs.total;
    for (const auto& [name, cost] : costs.own_by_function) {
      sum.own_by_function[name] += cost;
    }
  }
  if (sum.tool.empty()) {
    return fail(ErrorCode::kNotFound, "callgrind wrote no counts");
  }
  return sum;
}

/// One launch of so many inferences under callgrind, and what its files say.
Result<CountedLaunch> count_launch(LaunchTarget& target, LaunchRequest request,
                                   const std::string& tool, int inferences,
                                   const stdfs::path& file) {
  request.plan = {.warmup_iterations = 0,
                  .iterations = inferences - 1,
                  .min_iterations = inferences - 1,
                  .time_budget_ns = kLaunchLimitNs};
  request.limits.wall_ns = kLaunchLimitNs;
  request.prefix = {tool, "--tool=callgrind", "--trace-children=yes",
                    fmt::format("--callgrind-out-file={}.%p", file.string()), "-q"};
  request.writable = {file.parent_path().string()};
  ASSAY_ASSIGN_OR_RETURN(const auto result, target.run(request));
  const auto& launch = result.launch;
  if (launch.outcome != Outcome::kCompleted || !launch.measurement || !launch.load) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the program did not end well under callgrind: {} {}", launch.text,
                            launch.end.last_words));
  }
  if (launch.measurement->iterations != inferences - 1) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("callgrind saw {} of {} inferences within {} s",
                            launch.measurement->iterations + 1, inferences,
                            kLaunchLimitNs / 1'000'000'000));
  }
  CountedLaunch counted;
  ASSAY_ASSIGN_OR_RETURN(counted.costs,
                         costs_of_processes(file.parent_path(), file.filename().string() + "."));
  counted.threads = threads_in(launch.load->effective_options);
  return counted;
}

std::vector<FunctionCost> functions_of(const CallgrindCosts& few, const CallgrindCosts& many,
                                       int inferences) {
  std::vector<FunctionCost> functions;
  for (const auto& [name, cost] : many.own_by_function) {
    const auto before = few.own_by_function.find(name);
    const auto more = cost - (before == few.own_by_function.end() ? 0 : before->second);
    if (more != 0) {
      functions.push_back({.name = name, .instructions = static_cast<double>(more) / inferences});
    }
  }
  std::ranges::sort(functions, std::greater{}, &FunctionCost::instructions);
  functions.resize(std::min(functions.size(), kMostFunctions));
  return functions;
}

/// Kernels are chosen by what the processor says it can; under valgrind it says less.
void note_processor(const std::vector<std::string>& cpu_flags, InstructionReport& report) {
  const auto unknown = std::ranges::find_if(
      cpu_flags, [](std::string_view flag) { return flag.starts_with("avx512"); });
  if (unknown != cpu_flags.end()) {
    report.notes.emplace_back(
        "valgrind does not support AVX-512 and hides it from the program, so these counts are of "
        "AVX2 kernels and not of the timed ones");
  }
}

Result<InstructionReport> count_case(LaunchTarget& target, const LaunchRequest& request,
                                     const InstructionPlan& plan, const std::string& valgrind) {
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-callgrind"));
  ASSAY_ASSIGN_OR_RETURN(
      const auto few, count_launch(target, request, valgrind, plan.few, folder.path() / "few.out"));
  ASSAY_ASSIGN_OR_RETURN(const auto many, count_launch(target, request, valgrind, plan.many,
                                                       folder.path() / "many.out"));
  const int more = plan.many - plan.few;
  InstructionReport report{
      .unavailable = {},
      .tool = many.costs.tool,
      .few = plan.few,
      .many = plan.many,
      .few_instructions = few.costs.total,
      .many_instructions = many.costs.total,
      .instructions_per_inference = static_cast<double>(many.costs.total - few.costs.total) / more,
      .functions = functions_of(few.costs, many.costs, more)};
  if (many.threads > 1) {
    report.notes.push_back(
        fmt::format("{} threads took turns under valgrind, so the counts include spinning while "
                    "they wait; use --threads 1",
                    many.threads));
  }
  return report;
}

Status store_report(ResultStore& store, const std::string& attempt,
                    const InstructionReport& report) {
  if (report.unavailable.empty()) {
    const std::vector<MetricRow> rows = {
        {.attempt = attempt,
         .launch = {},
         .metric = make_metric("instructions_per_inference", report.instructions_per_inference)}};
    ASSAY_RETURN_IF_ERROR(store.add_metrics(rows));
  }
  return store.add_attachment(
      {.owner = attempt, .kind = "instructions", .content = Json(report).dump()});
}

/// Case key and subject: builds of one engine have the same cases.
using MeasuredCase = std::pair<std::string, std::string>;

/// The profile pass of each case.
Result<std::map<MeasuredCase, std::string>> profile_attempts(const CampaignRequest& request,
                                                             const CampaignTools& tools) {
  std::map<MeasuredCase, std::string> attempts;
  ASSAY_ASSIGN_OR_RETURN(const auto all, tools.store.attempts_of_run(request.context.run.id));
  for (const auto& attempt : all) {
    if (attempt.pass == Pass::kProfile) {
      attempts[{attempt.case_key, attempt.subject}] = attempt.id;
    }
  }
  return attempts;
}

}  // namespace

std::optional<std::string> find_valgrind() {
  const auto found = find_on_path("valgrind");
  return found ? std::optional(found->string()) : std::nullopt;
}

Status count_instructions(const CampaignRequest& request, const CampaignTools& tools,
                          const InstructionPlan& plan) {
  ASSAY_CHECK(plan.few >= 1 && plan.many > plan.few);
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, profile_attempts(request, tools));
  ASSAY_ASSIGN_OR_RETURN(const auto prepared, prepare_cases(request.context, request.cases, tools));
  ASSAY_ASSIGN_OR_RETURN(const auto lock, tools.lock_device());
  std::unique_ptr<LaunchTarget> target;
  PhaseProgress progress{.total = static_cast<int>(prepared.size())};
  tools.listener.on_phase("instructions", "case", progress);
  for (const auto& one : prepared) {
    tools.listener.on_progress(progress);
    ++progress.done;
    const auto attempt = attempts.find({one.key, one.subject_digest});
    if (tools.listener.should_stop()) {
      return fail(ErrorCode::kTimeout, "stopped before the instructions of all cases were counted");
    }
    if (!one.artifact || attempt == attempts.end()) {
      continue;
    }
    const auto label = label_of(one.cell);
    tools.listener.on_step_started(label, "");
    InstructionReport report{.unavailable = kNoValgrind};
    if (plan.valgrind) {
      target.reset();  // It may have died, and a living one keeps the device locked.
      ASSAY_ASSIGN_OR_RETURN(target, tools.connect_target());
      auto counted = count_case(
          *target, launch_request_from_case(one, Pass::kTiming, request.context.settings), plan,
          *plan.valgrind);
      report =
          counted ? *std::move(counted) : InstructionReport{.unavailable = counted.error().message};
      if (report.unavailable.empty()) {
        note_processor(request.context.environment.cpu_flags, report);
      }
    }
    ASSAY_RETURN_IF_ERROR(store_report(tools.store, attempt->second, report));
    tools.listener.on_step_finished(
        label, report.unavailable.empty() ? Outcome::kCompleted : Outcome::kSkipped,
        report.unavailable);
  }
  tools.listener.on_progress(progress);
  return {};
}

}  // namespace assay
