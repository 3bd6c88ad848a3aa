#pragma once

#include <span>
#include <vector>

namespace assay::stats {

/// Which of many p-values count, when so many were looked at. Both: `p` in any order, each in [0,
/// 1], may be empty; the answer is in the same order, true where the null hypothesis is rejected.
/// Equal p-values share their answer. Pure; O(n log n).

/// Keeps the expected share of false ones among the rejected at or below `q`, in (0, 1), if the
/// tests are independent or positively dependent. Rejects the k smallest, with the largest k for
/// which p(k) <= q k / n. Source: Benjamini, Hochberg, Controlling the False Discovery Rate, JRSS B
/// 57 (1995), equation 1.
std::vector<bool> benjamini_hochberg(std::span<const double> p, double q);

/// Keeps the probability of any false rejection at or below `alpha`, in (0, 1), however the tests
/// depend. Rejects from the smallest on while p(k) <= alpha / (n + 1 - k). Source: Holm, A Simple
/// Sequentially Rejective Multiple Test Procedure, Scand. J. Stat. 6 (1979).
std::vector<bool> holm(std::span<const double> p, double alpha);

}  // namespace assay::stats
