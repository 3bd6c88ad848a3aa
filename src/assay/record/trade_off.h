#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/metric.h"

namespace assay {

/// A case as a point of latency against accuracy.
struct TradeOffPoint {
  int case_index = 0;  ///< In RunSummary::cases.
  std::string title;   ///< "executorch/xnnpack-int8": what tells it from the other points.
  Estimate latency_ns;
  Estimate accuracy;            ///< Accuracy of the worst output.
  std::optional<double> bound;  ///< The accuracy that was required of the case.
  bool keeps_accuracy = false;  ///< Every reference agrees and every gate on accuracy is met.
  bool is_on_front = false;     ///< No other point is as fast and as accurate, and better in one.
};

/// Latency against accuracy over the cases of one model on one shape of input and one device.
struct TradeOff {
  std::string model;
  std::string shapes;
  std::string metric;                 ///< "sqnr_db", "top1_accuracy"
  std::string against;                ///< Kind of reference: "float32".
  std::vector<TradeOffPoint> points;  ///< Fastest first; at least two.
  std::string text;                   ///< "fastest that keeps accuracy: …"
};

ASSAY_DECLARE_JSON(TradeOffPoint);
ASSAY_DECLARE_JSON(TradeOff);

}  // namespace assay
