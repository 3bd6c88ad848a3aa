#include "features/compare/pair_runner.h"

#include "features/compare/comparison_request.h"
#include "features/compare/pair_order.h"
#include "features/compare/side_runner.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/launch_conditions.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/launch.h"

namespace assay {

PairRunner::PairRunner(const ComparisonRequest& request, const CampaignTools& tools,
                       const Comparison& comparison, SideRunner sides)
    : request_(request), tools_(tools), comparison_(comparison), sides_(std::move(sides)) {
  for (const auto& launch : sides_.earlier()) {
    if (launch.place) {
      next_block_ = std::max(next_block_, launch.place->block + 1);
    }
  }
}

int PairRunner::threads() const { return std::max(threads_of(request_.a), threads_of(request_.b)); }

std::string PairRunner::label_at(const PairPlace& place) const {
  return label_of(place.side == Side::kB ? request_.b : request_.a);
}

void PairRunner::tell_finished(const Launch& launch) const {
  tools_.listener.on_step_finished(launch.place ? label_at(*launch.place) : "", launch.outcome,
                                   launch.text);
}

Result<std::vector<Launch>> PairRunner::run_block(PairPhase phase, Pairing pairing) {
  const int block = next_block_++;
  return pairing == Pairing::kDuet ? run_duets(phase, block) : run_interleaved(phase, block);
}

Result<std::vector<Launch>> PairRunner::run_interleaved(PairPhase phase, int block) {
  std::vector<Launch> launches;
  const bool has_canary = comparison_.plan.has_canary && phase != PairPhase::kPilot;
  for (const auto& step : block_order(request_.context.run.seed, block, has_canary)) {
    if (tools_.listener.should_stop()) {
      return fail(ErrorCode::kTimeout, "stopped before the comparison reached a verdict");
    }
    PairPlace place{.comparison = comparison_.id,
                    .block = block,
                    .pair = step.pair,
                    .side = step.side,
                    .phase = phase};
    if (comparison_.plan.is_pinned) {
      place.cpus = own_cores(step.pair, threads(), request_.context.environment.cpus);
    }
    tools_.listener.on_step_started(label_at(place), "");
    ASSAY_ASSIGN_OR_RETURN(auto launch, sides_.launch(place));
    tell_finished(launch);
    launches.push_back(std::move(launch));
    if (launches.back().outcome != Outcome::kCompleted) {
      break;
    }
  }
  return launches;
}

Result<std::vector<Launch>> PairRunner::run_duets(PairPhase phase, int block) {
  std::vector<Launch> launches;
  const auto order = block_order(request_.context.run.seed, block, false);
  for (std::size_t first = 0; first < order.size(); first += 2) {
    if (tools_.listener.should_stop()) {
      return fail(ErrorCode::kTimeout, "stopped before the comparison reached a verdict");
    }
    std::array<PairPlace, 2> places;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& step = order[first + i];
      places.at(i) = {
          .comparison = comparison_.id,
          .block = block,
          .pair = step.pair,
          .side = step.side,
          .cpus = own_cores(static_cast<int>(i), threads(), request_.context.environment.cpus),
          .phase = phase,
          .pairing = Pairing::kDuet};
    }
    tools_.listener.on_step_started(label_at(places[0]), "");
    ASSAY_ASSIGN_OR_RETURN(auto pair, sides_.launch_together(places));
    // The one that failed comes last: it is what the block ended with.
    if (pair[0].outcome != Outcome::kCompleted) {
      std::swap(pair[0], pair[1]);
    }
    for (auto& launch : pair) {
      tell_finished(launch);
      launches.push_back(std::move(launch));
    }
    if (launches.back().outcome != Outcome::kCompleted) {
      break;
    }
  }
  return launches;
}

bool has_cores_for_duet(int threads, int cores) { return threads >= 1 && 2 * threads <= cores; }

}  // namespace assay
