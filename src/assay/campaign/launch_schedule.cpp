#include "assay/campaign/launch_schedule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "assay/record/axes.h"

namespace assay {
namespace {

/// Fisher-Yates with the generator's raw bits: the same order on every machine, unlike
/// std::shuffle.
std::vector<std::size_t> shuffled_indices(std::size_t count, std::mt19937_64& generator) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) {
    std::swap(indices[i - 1], indices[generator() % i]);
  }
  return indices;
}

bool has_pass(const std::vector<Pass>& passes, Pass pass) {
  return std::ranges::find(passes, pass) != passes.end();
}

}  // namespace

std::vector<ScheduledLaunch> schedule_launches(std::size_t cases, const std::vector<Pass>& passes,
                                               int timing_launches, std::uint64_t seed) {
  std::vector<ScheduledLaunch> steps;
  for (const auto pass : {Pass::kEvaluate, Pass::kMemory, Pass::kProfile}) {
    for (std::size_t cell = 0; has_pass(passes, pass) && cell < cases; ++cell) {
      steps.push_back({.cell = cell, .pass = pass, .index = 0});
    }
  }
  if (!has_pass(passes, Pass::kTiming)) {
    return steps;
  }
  std::mt19937_64 generator(seed);
  for (int round = 0; round < timing_launches; ++round) {
    for (const auto cell : shuffled_indices(cases, generator)) {
      steps.push_back({.cell = cell, .pass = Pass::kTiming, .index = round});
    }
  }
  return steps;
}

}  // namespace assay
