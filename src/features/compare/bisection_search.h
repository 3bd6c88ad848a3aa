#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace assay {

/// One commit of an ordered range after its good end; the last one is the bad end.
struct BisectionCommit {
  double weight = 1;               ///< Prior weight of being the culprit; 0: it cannot be.
  bool is_same_as_parent = false;  ///< Its build has the same bytes: it cannot be the culprit.
};

/// Commits [first, last], one of which is the culprit, with probability `probability`. Several when
/// no build tells them apart.
struct Suspects {
  std::size_t first = 0;
  std::size_t last = 0;
  double probability = 0;
};

/// Searches the commit that made a change, from answers that are only probably right.
///
/// Keeps the probability of each commit to be the culprit, given all observations, and asks for the
/// build that divides it in halves. Certain answers (of crashes, sizes, counts) are observations
/// with an infinite ratio: the search is then a plain bisection, by weights. A commit that cannot
/// be built or measured is skipped: it stays a suspect, and nothing distinguishes it from its
/// successor. All indices are of the commits given. Deterministic; O(commits) a call. Source:
/// Horstein, Sequential Transmission Using Noiseless Feedback, IEEE Trans. Inf. Theory 9 (1963);
/// with priors and unusable builds as in this class.
class BisectionSearch {
 public:
  /// `commits`: at least one; at least one with a weight above 0 and bytes of its own.
  explicit BisectionSearch(std::span<const BisectionCommit> commits);

  /// The commit to measure next, never the last; nothing when the most likely suspects have
  /// `enough` probability, or no build is left that could tell suspects apart.
  [[nodiscard]] std::optional<std::size_t> next(double enough = 0.95) const;

  /// Notes what was measured of a commit. `log_ratio`: ln of how much more likely that is if the
  /// change is in this commit than if not; infinite where it is certain.
  void observe(std::size_t commit, double log_ratio);

  /// Notes what was measured of suspects against the commit before them. `log_ratio` as above, of
  /// the change being made by one of them.
  void observe_suspects(const Suspects& suspects, double log_ratio);

  /// Notes that a commit cannot be measured.
  void skip(std::size_t commit);

  /// The most likely of the groups that builds can tell apart.
  [[nodiscard]] Suspects suspects() const;

  /// Probability of each commit to be the culprit; their sum is 1.
  [[nodiscard]] const std::vector<double>& probabilities() const { return probabilities_; }

 private:
  /// Multiplies the probabilities of [first, last] by exp(log_ratio) against the others.
  void weigh(std::size_t first, std::size_t last, double log_ratio);

  std::vector<double> probabilities_;
  std::vector<bool> is_skipped_;
};

}  // namespace assay
