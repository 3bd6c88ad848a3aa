#include "assay/record/attribution.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "assay/base/enum_names.h"  // IWYU pragma: keep
#include "assay/base/json.h"

namespace assay {

double sqnr_db_from_noise(double noise) {
  return noise > 0 ? -10 * std::log10(noise) : std::numeric_limits<double>::infinity();
}

void to_json(Json& j, const LayerOrigin& origin) {
  j = {{"name", origin.name},
       {"module", origin.module},
       {"operator", origin.operator_name},
       {"inputs", origin.inputs}};
}

void from_json(const Json& j, LayerOrigin& origin) {
  origin.name = j.value("name", "");
  origin.module = j.value("module", "");
  origin.operator_name = j.value("operator", "");
  origin.inputs = j.value("inputs", origin.inputs);
}

ASSAY_DEFINE_JSON(NoiseParts, quantization, backend, total)
ASSAY_DEFINE_JSON(LayerNoise, origin, noise, added, alone)
ASSAY_DEFINE_JSON(Attribution, whole, layers, notes)

}  // namespace assay
