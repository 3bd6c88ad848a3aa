#pragma once

#include <vector>

#include "assay/record/summary.h"
#include "assay/record/trade_off.h"

namespace assay {

/// Lays latency against accuracy for each network (network_of) and device with two or more cases
/// that have both. Accuracy is the metric that most of them have: top-1 accuracy on labels before
/// SQNR, SQNR before the relative error that it is the logarithm of, float32 before other
/// references.
///
/// The text names the fastest case that keeps accuracy, its time, its accuracy with the bound, and
/// the cases whose intervals overlap its own, because the order of those is not known.
std::vector<TradeOff> find_trade_offs(const std::vector<CaseSummary>& cases);

}  // namespace assay
