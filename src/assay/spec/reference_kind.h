#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/record/case.h"

namespace assay {

/// A reference that a toolchain computes from the model.
enum class ReferenceKind : std::uint8_t {
  kFloat32,
  kFloat64,  ///< Has bounds for the error of float32 arithmetic.
  kQdq,      ///< The quantized graph, in floating point.
  kLoweredEager,
};

template <>
inline constexpr auto kEnumNames<ReferenceKind> = std::to_array<EnumName<ReferenceKind>>({
    {ReferenceKind::kFloat32, "float32"},
    {ReferenceKind::kFloat64, "float64"},
    {ReferenceKind::kQdq, "qdq"},
    {ReferenceKind::kLoweredEager, "lowered_eager"},
});

/// The kind that is nearest to what the engine computes: the quantized graph where the recipe
/// quantizes; else float64 where the model has error bounds, and float32 where it has none.
ReferenceKind nearest_reference_kind(const Case& cell, bool has_error_bounds);

/// True if a reference of this kind is made for every recipe, so that all can take inputs from it.
bool serves_every_recipe(ReferenceKind kind);

/// Kind of a reference that is in files next to the inputs.
inline constexpr std::string_view kFileKind = "file";

/// Inputs without expected outputs: what a finished program is given where it has no reference of
/// another kind. Not a kind to evaluate against.
inline constexpr std::string_view kInputsKind = "inputs";

/// The kinds with a name of their own: what a toolchain computes, and "file". Besides there is
/// "engine:NAME", or "engine:NAME@BUILD": what that engine makes of the same program.
const std::vector<std::string>& named_reference_kinds();

/// True if outputs can be evaluated against this.
bool is_reference_kind(std::string_view kind);

/// "onnxruntime" of "engine:onnxruntime", "executorch@mine" of "engine:executorch@mine"; nothing
/// for another kind.
std::optional<std::string> engine_of_kind(std::string_view kind);

/// The metric behind a name that may open with a kind: "sqnr_db" of "qdq.sqnr_db".
std::string_view without_reference_kind(std::string_view name);

/// True if expected outputs belong to the case's inputs: a file of them is named, or the inputs
/// come from what may hold both.
bool has_expected_outputs(const Case& cell);

/// Answers from the file names of the inputs and of the expected outputs alone.
bool has_expected_outputs(std::string_view input_file, std::string_view expected_file);

}  // namespace assay
