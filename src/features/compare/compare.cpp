#include "features/compare/compare.h"

#include "features/compare/apart.h"
#include "features/compare/comparison_request.h"
#include "features/compare/pair_runner.h"
#include "features/compare/pairing.h"
#include "features/compare/pairs.h"
#include "features/compare/side_runner.h"
#include "features/compare/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/iterations.h"
#include "assay/campaign/listener.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/stats/looks.h"
#include "assay/stats/pair_test.h"
#include "assay/stats/quantile.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

constexpr int kFewestPairs = 6;            ///< Fewer bound nothing at 95 %.
constexpr double kMostWithout = 0.1;       ///< Share of the pairs that may lack the metric.
constexpr std::size_t kPilotLaunches = 8;  ///< Two blocks.

/// Resets the results, which are computed from the launches again; decisions made on the way stay.
Comparison begun_again(Comparison comparison) {
  comparison.verdict = ComparisonVerdict::kInconclusive;
  comparison.text.clear();
  comparison.is_confirmed = false;
  comparison.looks.clear();
  comparison.confirmation.reset();
  comparison.pairs_without = 0;
  return comparison;
}

/// A plan may come from a file: of a store, or a job of a fleet.
Status check_plan(const ComparisonPlan& plan) {
  const auto is_share = [](double value) { return value > 0 && value < 1; };
  const bool is_ascending = std::ranges::is_sorted(plan.looks, std::less_equal<>());
  const bool are_looks = !plan.looks.empty() && plan.looks.front() > 0 && is_ascending &&
                         plan.alpha.size() == plan.looks.size() &&
                         std::ranges::all_of(plan.alpha, is_share);
  if (are_looks && plan.gate_ratio > 0 && std::isfinite(plan.gate_ratio) &&
      plan.confirmation_pairs > 0 && is_share(2 * plan.confirmation_alpha)) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              "the plan of the comparison makes no sense: it needs looks at ascending numbers of "
              "pairs with an alpha between 0 and 1 each, a change that matters above 0, and pairs "
              "that confirm it");
}

/// One comparison under way.
class Session {
 public:
  Session(const ComparisonRequest& request, const CampaignTools& tools, Comparison comparison)
      : request_(request), tools_(tools), comparison_(std::move(comparison)) {}

  Result<Comparison> run() {
    ASSAY_RETURN_IF_ERROR(check_plan(comparison_.plan));
    ASSAY_RETURN_IF_ERROR(open());
    std::shared_ptr<void> lock;
    if (request_.context.is_resumed) {
      // The store is read under the lock: another process may resume the run, too.
      ASSAY_ASSIGN_OR_RETURN(lock, tools_.lock_device());
      ASSAY_ASSIGN_OR_RETURN(auto begun,
                             find_unfinished_comparison(tools_.store, request_.context.run.id));
      comparison_ = begun_again(std::move(begun));
    }
    ASSAY_ASSIGN_OR_RETURN(auto sides,
                           SideRunner::prepare(request_, tools_, comparison_.plan.has_canary));
    PairRunner runner(request_, tools_, comparison_, std::move(sides));
    ASSAY_RETURN_IF_ERROR(check_duet(runner));
    if (!lock) {
      ASSAY_ASSIGN_OR_RETURN(lock, tools_.lock_device());
    }
    start_ns_ = monotonic_ns() - comparison_.wall_ns;
    take_over_earlier(runner);
    auto status = choose_pairing(runner);
    if (status && !has_failed()) {
      status = take_looks(runner);
    }
    if (status && !has_failed() && is_change(comparison_.verdict)) {
      status = confirm(runner);
    }
    conclude();
    ASSAY_RETURN_IF_ERROR(tools_.store.put_comparison(comparison_));
    ASSAY_RETURN_IF_ERROR(status);
    ASSAY_RETURN_IF_ERROR(runner.sides().finish());
    if (request_.finishes_run) {
      ASSAY_RETURN_IF_ERROR(tools_.store.finish_run(request_.context.run.id, unix_time_ns()));
    }
    return comparison_;
  }

 private:
  Status open() {
    if (request_.context.is_resumed) {
      return tools_.store.claim_run(request_.context.run.id);
    }
    ASSAY_RETURN_IF_ERROR(tools_.store.add_environment(request_.context.environment));
    ASSAY_RETURN_IF_ERROR(tools_.store.add_run(request_.context.run));
    for (const auto* side : {&request_.a, &request_.b}) {
      ASSAY_RETURN_IF_ERROR(tools_.store.add_case(request_.context.run.id, *side));
    }
    return tools_.store.put_comparison(comparison_);
  }

  Status check_duet(const PairRunner& runner) const {
    if (!comparison_.plan.tries_duet ||
        has_cores_for_duet(runner.threads(), request_.context.environment.cpus)) {
      return {};
    }
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--duet runs both sides at once on separate cores; pass --threads with "
                            "at most half of the {} cores",
                            request_.context.environment.cpus));
  }

  void take_over_earlier(PairRunner& runner) {
    for (const auto& launch : runner.sides().earlier()) {
      const bool is_pilot = launch.place && launch.place->phase == PairPhase::kPilot;
      if (launch.outcome == Outcome::kCompleted && !is_pilot) {
        pairs_.add(launch);
      }
    }
    for (const int pair : comparison_.replaced_pairs) {
      pairs_.replace(pair);
    }
    if (comparison_.iterations > 0) {
      runner.sides().set_iterations(comparison_.iterations);
    }
  }

  /// A side did not complete a launch, which its text says: nothing more is asked of it.
  bool has_failed() const { return !comparison_.text.empty(); }

  bool is_out_of_time() const {
    return comparison_.plan.budget_ns > 0 &&
           monotonic_ns() - start_ns_ >= comparison_.plan.budget_ns;
  }

  stats::PairSwapPlan swaps() const { return {.seed = request_.context.run.seed}; }

  Status choose_pairing(PairRunner& runner) {
    if (!comparison_.plan.tries_duet || comparison_.pilot) {
      return {};
    }
    PhaseProgress progress{.total = 2 * kPairingPilotPairs};
    tools_.listener.on_phase("pilot", "pair", progress);
    const auto tell = [this, &progress](int pairs) {
      progress.done = pairs;
      tools_.listener.on_progress(progress);
    };
    ASSAY_ASSIGN_OR_RETURN(const auto pilot,
                           run_pairing_pilot(runner, comparison_.plan.metric, tell));
    if (pilot.failed) {
      note_failure(*pilot.failed);
      return {};
    }
    comparison_.pilot = pilot.found;
    comparison_.pairing = better_pairing(pilot.found);
    return tools_.store.put_comparison(comparison_);
  }

  /// Pairs up to a planned look, the look, and so on until one decides.
  Status take_looks(PairRunner& runner) {
    const auto& design = comparison_.plan;
    stats::LookPlan plan{.pairs = design.looks, .alpha = design.alpha};
    tools_.listener.on_phase("search", "pair",
                             count_progress(PairPhase::kSearch, design.looks.back()));
    for (std::size_t look = 0; look < design.looks.size(); ++look) {
      ASSAY_RETURN_IF_ERROR(
          run_pairs(runner, PairPhase::kSearch, design.looks[look], design.looks.back()));
      const auto sides = pairs_.sides(design.metric, PairPhase::kSearch);
      check_sides(sides);
      if (has_failed()) {
        return {};
      }
      plan.gate = sides.gate(design.gate_ratio);
      // Out of time is a look before its time; the clock, not the data, chose it.
      plan.pairs[look] = std::min(plan.pairs[look], static_cast<int>(sides.a.size()));
      const auto result = stats::judge_look(sides.a, sides.b, look, plan, swaps());
      comparison_.looks.push_back(estimate_of(design.metric, pairs_, sides, result));
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
  Status confirm(PairRunner& runner) {
    const auto& design = comparison_.plan;
    const int pairs = design.confirmation_pairs;
    tools_.listener.on_phase("confirmation", "pair",
                             count_progress(PairPhase::kConfirmation, pairs));
    ASSAY_RETURN_IF_ERROR(run_pairs(runner, PairPhase::kConfirmation, pairs, pairs));
    if (has_failed()) {
      return {};
    }
    const auto fresh = pairs_.sides(design.metric, PairPhase::kConfirmation);
    check_sides(fresh);
    if (has_failed()) {
      return {};
    }
    const stats::ConfirmationPlan plan{
        .pairs = std::min(design.confirmation_pairs, static_cast<int>(fresh.a.size())),
        .alpha = design.confirmation_alpha,
        .gate = fresh.gate(design.gate_ratio)};
    auto swaps_again = swaps();
    ++swaps_again.seed;
    const auto searched = pairs_.sides(design.metric, PairPhase::kSearch);
    const auto looked_at = static_cast<std::size_t>(comparison_.looks.back().pairs);
    const double found = stats::median(searched.first(looked_at).differences());
    const auto again = stats::judge_confirmation(fresh.a, fresh.b, found, plan, swaps_again);
    comparison_.confirmation = estimate_of(design.metric, pairs_, fresh, again.look);
    comparison_.is_confirmed = again.is_confirmed;
    return {};
  }

  /// Counts pairs, as the plan does: a pair that was replaced is none. The search may end at an
  /// earlier look; a budget ends it at a number of pairs that nobody knows before.
  [[nodiscard]] PhaseProgress count_progress(PairPhase phase, int total) const {
    PhaseProgress progress{.done = std::min(pairs_.count(phase), total), .total = total};
    if (phase == PairPhase::kSearch) {
      progress.is_limit = true;
      if (const auto budget_ns = comparison_.plan.budget_ns; budget_ns > 0) {
        progress.total = 0;
        progress.remaining_ns = std::max<std::int64_t>(start_ns_ + budget_ns - monotonic_ns(), 0);
      }
    }
    return progress;
  }

  /// Blocks of two pairs until a phase has `count` of `total`. Stops at a failed launch, and when
  /// the search is out of time.
  Status run_pairs(PairRunner& runner, PairPhase phase, int count, int total) {
    while (pairs_.count(phase) < count) {
      if (phase == PairPhase::kSearch && is_out_of_time() && pairs_.count(phase) >= kFewestPairs) {
        return {};
      }
      ASSAY_ASSIGN_OR_RETURN(const auto launches, runner.run_block(phase, comparison_.pairing));
      if (launches.back().outcome != Outcome::kCompleted) {
        note_failure(launches.back());
        return {};
      }
      std::ranges::for_each(launches, [this](const Launch& launch) { pairs_.add(launch); });
      note_neutral_metric();
      if (has_failed()) {
        return {};
      }
      replace_disturbed(phase);
      adapt_iterations(launches, runner.sides());
      tools_.listener.on_progress(count_progress(phase, total));
      ASSAY_RETURN_IF_ERROR(tools_.store.put_comparison(comparison_));
    }
    return {};
  }

  void note_failure(const Launch& launch) {
    comparison_.verdict = ComparisonVerdict::kInconclusive;
    comparison_.text = text_of_failure(comparison_, launch);
  }

  /// A metric that not all launches have decides nothing: which ones lack it may depend on it.
  void check_sides(const Pairs::Sides& sides) {
    note_neutral_metric();
    const auto pairs = sides.a.size() + static_cast<std::size_t>(sides.without);
    if (has_failed()) {
      return;
    }
    if (sides.a.empty()) {
      comparison_.verdict = ComparisonVerdict::kInconclusive;
      note_absent_metric();
    } else if (static_cast<double>(sides.without) > kMostWithout * static_cast<double>(pairs)) {
      comparison_.verdict = ComparisonVerdict::kInconclusive;
      comparison_.text = fmt::format("cannot tell: of {} pairs {} have a launch without {}", pairs,
                                     sides.without, comparison_.plan.metric);
    }
  }

  /// Nothing can become slower or faster in a metric of which nobody says which way is better.
  void note_neutral_metric() {
    if (!has_failed() && pairs_.definition(comparison_.plan.metric).better == Better::kNone) {
      comparison_.text = fmt::format(
          "cannot tell: neither less nor more {} is better; give the metric \"better\": \"lower\" "
          "or \"higher\" where the program describes it",
          comparison_.plan.metric);
    }
  }

  /// The program may tell numbers of its own and no time.
  void note_absent_metric() {
    const auto others = pairs_.program_metrics();
    comparison_.text = fmt::format(
        "cannot tell: no pair has {}{}", comparison_.plan.metric,
        others.empty() ? ""
                       : fmt::format("; the program prints {}: choose one with --metric",
                                     fmt::join(others, ", ")));
  }

  /// Further pairs are launched in place of disturbed ones, also of earlier blocks, as far as the
  /// phase has pairs enough by now.
  void replace_disturbed(PairPhase phase) {
    for (const int pair : pairs_.find_replaceable(phase)) {
      pairs_.replace(pair);
      comparison_.replaced_pairs.push_back(pair);
    }
  }

  void adapt_iterations(const std::vector<Launch>& launches, SideRunner& sides) {
    if (!comparison_.plan.adapts_iterations || comparison_.iterations > 0) {
      return;
    }
    for (const auto& launch : launches) {
      if (launch.place && launch.place->side != Side::kCanary) {
        iterations_.add(launch);
      }
    }
    if (const auto found = iterations_.iterations()) {
      comparison_.iterations = *found;
      sides.set_iterations(*found);
    }
  }

  void conclude() {
    comparison_.wall_ns = monotonic_ns() - start_ns_;
    comparison_.metrics = estimate_all(pairs_, comparison_.plan, swaps());
    comparison_.pairs_disturbed = pairs_.count_disturbed();
    comparison_.launches = pairs_.launches();
    comparison_.launches_unsteady = pairs_.launches_unsteady();
    comparison_.pairs_without = pairs_.all_sides(comparison_.plan.metric).without;
    comparison_.canary = estimate_canary(pairs_, comparison_.plan, swaps());
    if (has_failed() && !comparison_.metrics.empty()) {
      comparison_.metrics.front().verdict = comparison_.verdict;
    }
    if (!has_failed()) {
      settle_verdict(comparison_,
                     find_contradiction(pairs_, comparison_.metrics, comparison_.plan, swaps()),
                     are_apart(pairs_, comparison_.plan.gate_ratio));
    }
  }

  const ComparisonRequest& request_;
  const CampaignTools& tools_;
  Comparison comparison_;
  Pairs pairs_;
  IterationPilot iterations_{kPilotLaunches};
  std::int64_t start_ns_ = 0;
};

}  // namespace

Comparison new_comparison(const ComparisonRequest& request, const ComparisonPlan& plan) {
  const auto& [a, b] = std::tie(request.a, request.b);
  const bool is_alike = label_of(a) == label_of(b);  // One case on two builds of its engine.
  return {.id = make_uuid7(),
          .run = request.context.run.id,
          .worker = request.worker,
          .a_case = case_key(a),
          .b_case = case_key(b),
          .a_label = label_of(a) + (is_alike ? " " + a.engine_build : ""),
          .b_label = label_of(b) + (is_alike ? " " + b.engine_build : ""),
          .seed = request.context.run.seed,
          .plan = plan};
}

Result<Comparison> find_unfinished_comparison(ResultStore& store, std::string_view run) {
  ASSAY_ASSIGN_OR_RETURN(const auto found, store.get_run(run));
  ASSAY_ASSIGN_OR_RETURN(auto comparisons, store.comparisons_of_run(found.id));
  if (comparisons.empty()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("run {} is not a comparison; resume it with `assay run --resume`", found.id));
  }
  if (found.finished_unix_ns != 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the comparison of run {} is already finished: {}", found.id,
                            comparisons.back().text));
  }
  return std::move(comparisons.back());
}

Result<Comparison> run_comparison(const ComparisonRequest& request, const ComparisonPlan& plan,
                                  const CampaignTools& tools) {
  if (!request.context.is_resumed) {
    return Session(request, tools, new_comparison(request, plan)).run();
  }
  ASSAY_ASSIGN_OR_RETURN(auto begun,
                         find_unfinished_comparison(tools.store, request.context.run.id));
  return Session(request, tools, begun_again(std::move(begun))).run();
}

}  // namespace assay
