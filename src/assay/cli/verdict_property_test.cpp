// Verdicts and exit codes over passes, outcomes, interruptions, resumptions and losses: nothing
// that is added to a run makes it look better, and what was asked for and not done is unfinished.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/testing/campaign_bench.h"
#include "assay/campaign/testing/scripted_device.h"
#include "assay/cli/exit_code.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/conclusion.h"
#include "assay/record/summary.h"
#include "assay/record/unfinished.h"
#include "assay/summary/summarize.h"

namespace assay::cli {
namespace {

/// How a pass ends.
enum class Fate : std::uint8_t { kAbsent, kRight, kWrong, kRefused, kSkipped, kCrashed };

using Fates = std::map<Pass, Fate>;

constexpr std::array kRightOutput = {1.0F, 2.0F, 3.0F};
constexpr std::array kWrongOutput = {1.0F, 2.0F, 9.0F};

LaunchResult ended_at_start(Outcome outcome) {
  return failed_launch({.outcome = outcome, .stage = Stage::kStart, .reason_code = "told"});
}

LaunchResult right_result(const LaunchRequest& request) {
  if (request.pass == Pass::kTiming) {
    return timed_result(request, 1'000'000);
  }
  return request.pass == Pass::kEvaluate ? evaluated_result(kRightOutput) : completed_result();
}

Result<LaunchResult> result_of(const Fates& fates, const LaunchRequest& request) {
  if (request.build.name != "other") {
    return right_result(request);  // It gives the reference.
  }
  switch (fates.at(request.pass)) {
    case Fate::kWrong:
      return evaluated_result(kWrongOutput);
    case Fate::kRefused:
      return ended_at_start(Outcome::kUnsupported);
    case Fate::kSkipped:
      return ended_at_start(Outcome::kSkipped);
    case Fate::kCrashed:
      return ended_at_start(Outcome::kCrashed);
    case Fate::kAbsent:
    case Fate::kRight:
      break;
  }
  return right_result(request);
}

/// The run of one case as a user sees it.
struct Seen {
  Verdict verdict = Verdict::kSkipped;
  bool is_open = false;  ///< Told to be unfinished.
  ExitCode code = ExitCode::kOk;
  bool has_end = false;

  auto operator<=>(const Seen&) const = default;
};

/// How bad a verdict is.
int badness_of(Verdict verdict) {
  constexpr std::array kOrder = {Verdict::kPass, Verdict::kSkipped, Verdict::kInconclusive,
                                 Verdict::kFail};
  return static_cast<int>(std::ranges::find(kOrder, verdict) - kOrder.begin());
}

int badness_of(ExitCode code) {
  constexpr std::array kOrder = {ExitCode::kOk, ExitCode::kNothingMatched, ExitCode::kInconclusive,
                                 ExitCode::kFindings};
  return static_cast<int>(std::ranges::find(kOrder, code) - kOrder.begin());
}

/// A run of one program, which may be stopped and gone on with.
class OneCaseRun {
 public:
  explicit OneCaseRun(const Fates& fates)
      : bench_([fates](const LaunchRequest& launch, int) { return result_of(fates, launch); }),
        request_(bench_.request_for({bench_.add_program("net", "other@1")})) {
    auto& settings = request_.context.settings;
    settings.launches = {.least = 3, .most = 3};
    settings.against = {"engine:fake"};
    settings.passes.clear();
    for (const auto& [pass, fate] : fates) {
      if (fate != Fate::kAbsent) {
        settings.passes.push_back(pass);
      }
    }
    request_.context.run.started_unix_ns = 1;
    bench_.keep_inputs(request_.cases.front());
  }

  Seen execute(int stop_after) {
    bench_.listener.steps = 0;
    bench_.listener.stop_after = stop_after;
    const auto status = run_campaign(request_, bench_.tools());
    EXPECT_TRUE(status || stop_after >= 0) << status.error().message;
    request_.context.is_resumed = true;
    const auto run = bench_.store->get_run(request_.context.run.id).value();
    auto summary = summarize_run(*bench_.store, run, {}).value();
    // The reference is a case of its own; the user asks for the other one.
    std::erase_if(summary.cases, [](const CaseSummary& one) { return one.engine != "other@1"; });
    const auto& cell = summary.cases.at(0);
    return {.verdict = cell.verdict,
            .is_open = is_unfinished(cell),
            .code = exit_code_from_summary(summary),
            .has_end = run.finished_unix_ns != 0};
  }

 private:
  CampaignBench bench_;
  CampaignRequest request_;
};

Seen seen_of(const Fates& fates) { return OneCaseRun(fates).execute(-1); }

std::vector<Fates> all_fates() {
  const std::map<Pass, std::vector<Fate>> choices = {
      {Pass::kTiming, {Fate::kAbsent, Fate::kRight, Fate::kSkipped, Fate::kCrashed}},
      {Pass::kEvaluate, {Fate::kAbsent, Fate::kRight, Fate::kWrong, Fate::kCrashed}},
      {Pass::kProfile, {Fate::kAbsent, Fate::kRight, Fate::kRefused}}};
  std::vector<Fates> all = {{}};
  for (const auto& [pass, fates] : choices) {
    std::vector<Fates> longer;
    for (const auto& known : all) {
      for (const auto fate : fates) {
        longer.push_back(known);
        longer.back()[pass] = fate;
      }
    }
    all = std::move(longer);
  }
  std::erase_if(all, [](const Fates& fates) {
    return std::ranges::all_of(fates, [](const auto& one) { return one.second == Fate::kAbsent; });
  });
  return all;
}

std::string text_of(const Fates& fates) {
  std::string text;
  for (const auto& [pass, fate] : fates) {
    text += std::string(name_of(pass)) + "=" + std::to_string(static_cast<int>(fate)) + " ";
  }
  return text;
}

TEST(Verdicts, AreNeverBetterWithAPassMore) {
  std::map<Fates, Seen> seen;
  for (const auto& fates : all_fates()) {
    seen[fates] = seen_of(fates);
  }
  for (const auto& [fates, whole] : seen) {
    EXPECT_TRUE(whole.has_end && !whole.is_open) << text_of(fates);
    for (const auto& [pass, fate] : fates) {
      auto fewer = fates;
      fewer[pass] = Fate::kAbsent;
      if (const auto found = seen.find(fewer); fate != Fate::kAbsent && found != seen.end()) {
        EXPECT_GE(badness_of(whole.verdict), badness_of(found->second.verdict)) << text_of(fates);
        EXPECT_GE(badness_of(whole.code), badness_of(found->second.code)) << text_of(fates);
      }
    }
  }
}

TEST(Verdicts, OfAStoppedRunAreUnfinishedOrFailuresUntilItIsResumed) {
  constexpr int kMostSteps = 7;
  for (const auto& fates : all_fates()) {
    const auto whole = seen_of(fates);
    for (int steps = 0; steps < kMostSteps; ++steps) {
      OneCaseRun run(fates);
      const auto stopped = run.execute(steps);
      if (stopped.has_end) {
        EXPECT_EQ(stopped, whole) << text_of(fates);
        break;
      }
      EXPECT_TRUE(stopped.verdict == Verdict::kFail || stopped.is_open ||
                  stopped.verdict == whole.verdict)
          << text_of(fates) << "stopped after " << steps;
      EXPECT_TRUE(stopped.code == ExitCode::kFindings || stopped.code == ExitCode::kInconclusive)
          << text_of(fates) << "stopped after " << steps;
      EXPECT_EQ(run.execute(-1), whole) << text_of(fates) << "resumed after " << steps;
    }
  }
}

TEST(Verdicts, OfCasesThatAResumptionLeavesOutAreUnfinished) {
  const Fates fates = {{Pass::kTiming, Fate::kRight}, {Pass::kMemory, Fate::kRight}};
  // The last round has two launches, in any order: before it, each case has something to do.
  for (int steps = 0; steps < 7; ++steps) {
    CampaignBench bench(
        [&fates](const LaunchRequest& launch, int) { return result_of(fates, launch); });
    auto request = bench.request_for({bench.add_program("a"), bench.add_program("b")});
    request.context.settings.passes = {Pass::kTiming, Pass::kMemory};
    request.context.settings.launches = {.least = 3, .most = 3};
    bench.listener.stop_after = steps;
    ASSERT_FALSE(run_campaign(request, bench.tools())) << steps;
    bench.listener.stop_after = -1;
    const auto all = request.cases;
    request.context.is_resumed = true;
    request.cases.pop_back();
    ASSERT_TRUE(run_campaign(request, bench.tools()));
    const auto stored = [&] { return bench.store->get_run(request.context.run.id).value(); };
    const auto partly = summarize_run(*bench.store, stored(), {}).value();
    EXPECT_EQ(partly.cases.at(0).verdict, Verdict::kPass);
    EXPECT_TRUE(is_unfinished(partly.cases.at(1))) << steps;
    EXPECT_EQ(exit_code_from_summary(partly), ExitCode::kInconclusive);
    EXPECT_EQ(stored().finished_unix_ns, 0) << "what was left out can still be resumed";
    request.cases = all;
    ASSERT_TRUE(run_campaign(request, bench.tools()));
    EXPECT_NE(stored().finished_unix_ns, 0);
    EXPECT_EQ(exit_code_from_summary(summarize_run(*bench.store, stored(), {}).value()),
              ExitCode::kOk);
  }
}

}  // namespace
}  // namespace assay::cli
