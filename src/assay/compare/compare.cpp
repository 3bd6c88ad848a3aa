#include "assay/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/surroundings.h"
#include "assay/compare/answer.h"
#include "assay/compare/pair_order.h"
#include "assay/compare/pairs.h"
#include "assay/compare/side_runner.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/stats/looks.h"
#include "assay/stats/pair_test.h"

namespace assay {
namespace {

/// One comparison under way.
class Session {
 public:
  Session(const CampaignRequest& request, const ComparePlan& plan, const CampaignTools& tools)
      : request_(request), plan_(plan), tools_(tools) {
    comparison_.id = make_uuid7();
    comparison_.run = request.run.id;
    comparison_.a_case = case_key(request.cases.at(0));
    comparison_.b_case = case_key(request.cases.at(1));
    const auto& [a, b] = std::tie(request.cases.at(0), request.cases.at(1));
    const bool is_alike = label_of(a) == label_of(b);  // One case on two builds of its engine.
    comparison_.a_label = label_of(a) + (is_alike ? " " + a.engine_build : "");
    comparison_.b_label = label_of(b) + (is_alike ? " " + b.engine_build : "");
    comparison_.seed = request.run.seed;
    comparison_.gate_ratio = plan.gate_ratio;
  }

  Result<Comparison> run() {
    ASSAY_RETURN_IF_ERROR(open());
    ASSAY_ASSIGN_OR_RETURN(auto runner, SideRunner::prepare(request_, tools_, plan_.has_canary));
    ASSAY_ASSIGN_OR_RETURN(const auto lock, tools_.lock_device());
    start_ns_ = monotonic_ns();
    auto status = take_looks(runner);
    if (status && is_change(comparison_.verdict)) {
      status = confirm(runner);
    }
    conclude();
    ASSAY_RETURN_IF_ERROR(runner.finish());
    ASSAY_RETURN_IF_ERROR(tools_.store.put_comparison(comparison_));
    ASSAY_RETURN_IF_ERROR(status);
    ASSAY_RETURN_IF_ERROR(tools_.store.finish_run(request_.run.id, unix_time_ns()));
    return comparison_;
  }

 private:
  Status open() {
    ASSAY_RETURN_IF_ERROR(tools_.store.add_environment(request_.environment));
    ASSAY_RETURN_IF_ERROR(tools_.store.add_run(request_.run));
    for (const auto& cell : request_.cases) {
      ASSAY_RETURN_IF_ERROR(tools_.store.add_case(request_.run.id, cell));
    }
    return tools_.store.put_comparison(comparison_);
  }

  bool is_out_of_time() const {
    return plan_.budget_ns > 0 && monotonic_ns() - start_ns_ >= plan_.budget_ns;
  }

  stats::PairSwapPlan swaps() const { return {.seed = request_.run.seed}; }

  /// Pairs up to a planned look, the look, and so on until one decides.
  Status take_looks(SideRunner& runner) {
    stats::LookPlan plan{
        .pairs = plan_.looks, .alpha = plan_.alpha, .gate = std::log1p(plan_.gate_ratio)};
    tools_.listener.on_phase("pairs", plan_.looks.back());
    for (std::size_t look = 0; look < plan_.looks.size(); ++look) {
      ASSAY_RETURN_IF_ERROR(run_pairs(runner, plan_.looks[look], true));
      if (!comparison_.text.empty() || pairs_.count() == 0) {
        return {};
      }
      const auto sides = pairs_.logs(plan_.metric);
      // Out of time is a look before its time; the clock, not the data, chose it.
      plan.pairs[look] = std::min(plan.pairs[look], static_cast<int>(sides.a.size()));
      const auto result = stats::judge_look(sides.a, sides.b, look, plan, swaps());
      comparison_.looks.push_back(pairs_.estimate_of(plan_.metric, result));
      comparison_.verdict = comparison_.looks.back().verdict;
      comparison_.pairs_needed = result.pairs_needed;
      ASSAY_RETURN_IF_ERROR(tools_.store.put_comparison(comparison_));
      if (result.is_final || is_out_of_time()) {
        return {};
      }
    }
    return {};
  }

  /// A change must be there again on pairs that did not help to find it.
  Status confirm(SideRunner& runner) {
    const int before = pairs_.count();
    tools_.listener.on_phase("confirmation", plan_.confirmation_pairs);
    ASSAY_RETURN_IF_ERROR(run_pairs(runner, before + plan_.confirmation_pairs, false));
    if (!comparison_.text.empty()) {
      return {};
    }
    const auto sides = pairs_.logs(plan_.metric);
    const auto fresh = [before](const std::vector<double>& values) {
      return std::span(values).subspan(static_cast<std::size_t>(before));
    };
    // The sign is known, so half of the two-sided p is held against alpha.
    const stats::LookPlan plan{.pairs = {plan_.confirmation_pairs},
                               .alpha = {2 * plan_.confirmation_alpha},
                               .gate = std::log1p(plan_.gate_ratio) / 2};
    auto swaps_again = swaps();
    ++swaps_again.seed;
    const auto result = stats::judge_look(fresh(sides.a), fresh(sides.b), 0, plan, swaps_again);
    comparison_.confirmation = pairs_.estimate_of(plan_.metric, result);
    const double found = comparison_.looks.back().ratio;
    const double again = comparison_.confirmation->ratio;
    comparison_.is_confirmed = result.p_value <= 2 * plan_.confirmation_alpha &&
                               found * again > 0 && std::abs(again) >= std::abs(found) / 2;
    return {};
  }

  /// Blocks of two pairs until there are `count`. Stops at a failed launch, and out of time.
  Status run_pairs(SideRunner& runner, int count, bool is_budgeted) {
    while (pairs_.count() < count && comparison_.text.empty()) {
      if (is_budgeted && is_out_of_time() && pairs_.count() >= kFewestPairs) {
        return {};
      }
      for (const auto& step : block_order(request_.run.seed, next_block_, plan_.has_canary)) {
        ASSAY_RETURN_IF_ERROR(run_step(runner, step));
        if (!comparison_.text.empty()) {
          return {};
        }
      }
      replace_disturbed(count);
      ++next_block_;
    }
    return {};
  }

  /// Marks pairs of the block that just ended, for which further ones are launched: those of which
  /// a launch was disturbed, by its conditions and counters alone, never by its times. At most one
  /// fifth of the pairs up to here is replaced: on a machine that is always busy the rest stays,
  /// as the order and the test hold under noise that falls on both sides.
  void replace_disturbed(int planned) {
    for (const int pair : {2 * next_block_, 2 * next_block_ + 1}) {
      const auto replaced = static_cast<int>(pairs_.replaced().size());
      if (pairs_.is_disturbed(pair) && kReplacedOneIn * (replaced + 1) <= planned) {
        pairs_.replace(pair);
      }
    }
  }

  Status run_step(SideRunner& runner, const PairStep& step) {
    if (tools_.listener.should_stop()) {
      return fail(ErrorCode::kTimeout, "stopped before the comparison had its answer");
    }
    const auto& cell = request_.cases.at(step.side == Side::kB ? 1 : 0);
    const int threads = std::max(threads_of(request_.cases[0]), threads_of(request_.cases[1]));
    const PairPlace place{.comparison = comparison_.id,
                          .block = next_block_,
                          .pair = step.pair,
                          .side = step.side,
                          .cpus = plan_.is_pinned
                                      ? own_cores(step.pair, threads, request_.environment.cpus)
                                      : std::vector<int>{}};
    tools_.listener.on_step_started(label_of(cell));
    ASSAY_ASSIGN_OR_RETURN(const auto launch, runner.launch(step, place));
    tools_.listener.on_step_finished(label_of(cell), launch.outcome, launch.text, -1);
    if (launch.outcome != Outcome::kCompleted) {
      comparison_.verdict = ComparisonVerdict::kInconclusive;
      comparison_.text = text_of_failure(comparison_, launch);
      return {};
    }
    pairs_.add(launch);
    return {};
  }

  void conclude() {
    comparison_.wall_ns = start_ns_ == 0 ? 0 : monotonic_ns() - start_ns_;
    comparison_.metrics = pairs_.estimate_all(plan_.metric, plan_.gate_ratio, swaps());
    comparison_.pairs_disturbed = pairs_.count_disturbed();
    comparison_.replaced_pairs.assign(pairs_.replaced().begin(), pairs_.replaced().end());
    comparison_.canary = pairs_.estimate_canary(plan_.metric, swaps());
    if (comparison_.text.empty()) {
      settle_verdict(comparison_);
    }
  }

  static constexpr int kReplacedOneIn = 5;
  static constexpr int kFewestPairs = 6;  ///< Fewer bound nothing at 95 %.

  const CampaignRequest& request_;
  const ComparePlan& plan_;
  const CampaignTools& tools_;
  Comparison comparison_;
  Pairs pairs_;
  int next_block_ = 0;
  std::int64_t start_ns_ = 0;
};

}  // namespace

Result<Comparison> run_comparison(const CampaignRequest& request, const ComparePlan& plan,
                                  const CampaignTools& tools) {
  if (request.cases.size() != 2) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("a comparison has two sides, but there are {} cases", request.cases.size()));
  }
  return Session(request, plan, tools).run();
}

}  // namespace assay
