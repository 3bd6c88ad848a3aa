#pragma once

#include <vector>

#include "assay/record/summary.h"

namespace assay {

/// SQNR on random and on real inputs that lie further apart than this are called different, dB: a
/// factor of two in the error, one bit of precision. Where it comes from: docs/guide/accuracy.md.
inline constexpr double kParityDb = 6.02;

/// SQNR from here on is rounding, dB: the relative L2 error of 1e-4 that float32 is allowed.
inline constexpr double kRoundingDb = 80;

/// Compares each case on random inputs with the one on real inputs that is otherwise the same, if
/// there is one, and warns in both where the verdicts differ or the SQNR does.
void compare_inputs(std::vector<CaseSummary>& cases);

}  // namespace assay
