#include "assay/record/trade_off.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(TradeOffPoint, case_index, title, latency_ns, accuracy, bound, keeps_accuracy,
                  is_on_front)
ASSAY_DEFINE_JSON(TradeOff, model, shapes, metric, against, points, text)

}  // namespace assay
