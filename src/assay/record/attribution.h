#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"

namespace assay {

/// A layer whose result a program gives out, as the manifest tells it (docs/contracts/aot.md,
/// "layers").
struct LayerOrigin {
  std::string name;    ///< Name of its node in the exported graph: "conv2d_3".
  std::string module;  ///< "features.3.conv.0"; empty if the graph does not tell.
  std::string operator_name;
  std::vector<std::string> inputs;  ///< The nearest layers that it is computed from.
};

/// Noise: squared L2 norm of a difference by that of the reference, over all samples; 0.01 is an
/// SQNR of 20 dB. Absent where there is nothing to compare with, or where it is no number.
struct NoiseParts {
  std::optional<double> quantization;  ///< Quantized graph against float network, both in eager.
  std::optional<double> backend;       ///< Engine against quantized graph.
  std::optional<double> total;         ///< Engine against float network.
};

struct LayerNoise {
  LayerOrigin origin;
  NoiseParts noise;  ///< Noise of its result.
  NoiseParts added;  ///< Noise above that of its noisiest input; at least 0.
  NoiseParts alone;  ///< Noise of its result on exact inputs; absent if not examined.
};

/// Whose fault an error is: of quantization or of the backend, and of which layers.
struct Attribution {
  NoiseParts whole;                ///< Noise of the noisiest output of the program.
  std::vector<LayerNoise> layers;  ///< In the order in which they are computed.
  std::vector<std::string> notes;
};

/// -10 lg noise; infinite for none.
double sqnr_db_from_noise(double noise);

ASSAY_DECLARE_JSON(LayerOrigin);
ASSAY_DECLARE_JSON(NoiseParts);
ASSAY_DECLARE_JSON(LayerNoise);
ASSAY_DECLARE_JSON(Attribution);

}  // namespace assay
