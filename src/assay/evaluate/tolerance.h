#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/tensor/dtype.h"

namespace assay {

/// Permitted difference of an output from its reference. docs/guide/accuracy.md explains it to
/// users.
struct Tolerance {
  /// Metric of level "output" to its limit: a minimum where higher is better, else a maximum.
  std::map<std::string, double> bounds;
  /// The result's SQNR must exceed by this much the SQNR of another sample's reference, so that a
  /// low bound on a weak signal still tells a right output from the output for a wrong input.
  std::optional<double> separation_db;
  bool allows_nondeterminism = false;  ///< Two executions on one input may differ.
  /// The type in which a backend computes float32: bounds of single elements are widened to it.
  std::optional<Dtype> computes_in;
  /// The bounds grow to so many times what float32 itself loses, at most to `most_widening` times
  /// what they are; 0: they stay as they are.
  double sensitivity_factor = 0;
  double most_widening = 1;
  /// Outputs that are the same for every input, by name or place: no control misses them.
  std::vector<std::string> constant_outputs;
  std::string why;
};

/// The tolerances of one case against one kind of reference, by type of output.
struct ToleranceSet {
  Tolerance floating;  ///< float32, float64, and integers with quantization parameters.
  Tolerance float16;
  Tolerance bfloat16;
  Tolerance integer;  ///< Integers and bool that stand for themselves: exact by default.
  std::vector<std::string> constant_outputs;  ///< Named by any of the documents.

  [[nodiscard]] const Tolerance& for_output(Dtype dtype, bool is_quantized) const;
};

/// The tolerance that holds: the spec's document, else the recipe's, else the default for the
/// recipe's quantization. The nearest that bounds this kind wins whole, bounds are not mixed;
/// a document without bounds changes only what it names.
///
/// A document is {metric: number, …, "separation_db", "allow_nondeterminism", "computes_in",
/// "constant_outputs", "why"}; "why" is required. An object under a kind of reference ("float32",
/// "float64", "qdq", "lowered_eager", "file", and "engine" for every engine) holds for that kind
/// alone, one under "integer" for integer outputs. Errors: kInvalidArgument, with did-you-mean for
/// a key that is unknown.
Result<ToleranceSet> tolerances_for(const Recipe& recipe, const Json& spec_tolerance,
                                    std::string_view kind);

/// The loss of float32 itself in an output of a network: its errors against float64, by metric.
using Sensitivity = std::map<std::string, double>;

/// How many times what float32 itself loses an engine that is right may be off: both round, each in
/// its own order, and approximate functions of their own.
inline constexpr double kSensitivityFactor = 16;

/// Factor of an engine that computes in float16, which rounds 2^13 times as coarsely: in 13
/// networks that amplify rounding it lost 0.10 to 0.94 times 2^13 what float32 loses
/// (docs/guide/accuracy.md#sensitive-networks). Twice that leaves room for another order.
inline constexpr double kFloat16SensitivityFactor = 2 * 8192;

/// Widens bounds by the sensitivity, as the tolerance says. Returns a text for each that grew:
/// "relative_l2_error 0.00048, 16 times what float32 itself loses (3e-05)".
std::vector<std::string> widen_by_sensitivity(const Sensitivity& sensitivity, Tolerance& tolerance);

/// float16 or bfloat16 where the quantization of a recipe only casts.
std::optional<Dtype> cast_of_quantization(const Json& quantization);

/// Reads the document and throws the result away: for whoever checks a spec before it runs.
/// `origin` opens the message ("spec", "recipe mine"). Errors: as tolerances_for.
Status check_tolerance(const Json& document, std::string_view origin);

/// "sqnr_db 13.2 (>= 8)"; `value` absent: "sqnr_db not measured (>= 8)".
std::string text_of_bound(std::string_view metric, std::optional<double> value, double limit);

/// NaN holds no bound.
bool is_bound_held(std::string_view metric, double value, double limit);

}  // namespace assay
