#include "features/compare/bisection_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/result.h"

namespace assay {
namespace {

/// Wrong answers are possible however sure a model is of them; certain ones are not.
constexpr double kLeastProbability = 1e-12;

void normalize(std::vector<double>& probabilities) {
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  ASSAY_CHECK(sum > 0);
  std::ranges::for_each(probabilities, [sum](double& one) { one /= sum; });
}

}  // namespace

BisectionSearch::BisectionSearch(std::span<const BisectionCommit> commits)
    : is_skipped_(commits.size(), false) {
  for (const auto& commit : commits) {
    probabilities_.push_back(commit.is_same_as_parent ? 0 : commit.weight);
  }
  normalize(probabilities_);
}

std::optional<std::size_t> BisectionSearch::next(double enough) const {
  if (suspects().probability >= enough) {
    return std::nullopt;
  }
  std::optional<std::size_t> best;
  double least = 0.5;
  double until = 0;
  for (std::size_t i = 0; i + 1 < probabilities_.size(); ++i) {
    until += probabilities_[i];
    const double distance = std::abs(until - 0.5);
    if (!is_skipped_[i] && distance < least - kLeastProbability) {
      least = distance;
      best = i;
    }
  }
  return best;
}

void BisectionSearch::weigh(std::size_t first, std::size_t last, double log_ratio) {
  const bool is_certain = std::isinf(log_ratio);
  // The larger side stays as it is, so that nothing overflows.
  const double inside = is_certain ? (log_ratio > 0 ? 1 : 0) : std::exp(std::min(log_ratio, 0.0));
  const double outside = is_certain ? 1 - inside : std::exp(-std::max(log_ratio, 0.0));
  auto weighed = probabilities_;
  for (std::size_t i = 0; i < weighed.size(); ++i) {
    weighed[i] *= i >= first && i <= last ? inside : outside;
    if (!is_certain && probabilities_[i] > 0) {
      weighed[i] = std::max(weighed[i], kLeastProbability * probabilities_[i]);
    }
  }
  // Certain answers that contradict each other leave nothing: the later one is then ignored.
  if (std::accumulate(weighed.begin(), weighed.end(), 0.0) > 0) {
    normalize(weighed);
    probabilities_ = std::move(weighed);
  }
}

void BisectionSearch::observe(std::size_t commit, double log_ratio) {
  ASSAY_CHECK(commit < probabilities_.size());
  weigh(0, commit, log_ratio);
}

void BisectionSearch::observe_suspects(const Suspects& suspects, double log_ratio) {
  ASSAY_CHECK(suspects.first <= suspects.last && suspects.last < probabilities_.size());
  weigh(suspects.first, suspects.last, log_ratio);
}

void BisectionSearch::skip(std::size_t commit) {
  ASSAY_CHECK(commit < is_skipped_.size());
  is_skipped_[commit] = true;
}

Suspects BisectionSearch::suspects() const {
  Suspects best;
  Suspects group;
  bool is_empty = true;
  for (std::size_t i = 0; i < probabilities_.size(); ++i) {
    if (probabilities_[i] > 0) {
      group.first = is_empty ? i : group.first;
      group.last = i;
      group.probability += probabilities_[i];
      is_empty = false;
    }
    const bool is_told_apart = !is_skipped_[i] || i + 1 == probabilities_.size();
    if (is_told_apart) {
      best = group.probability > best.probability ? group : best;
      group = {};
      is_empty = true;
    }
  }
  return best;
}

}  // namespace assay
