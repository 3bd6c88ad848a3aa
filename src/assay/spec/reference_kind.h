#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/case.h"

namespace assay {

/// Kind of a reference that stands in files beside the inputs.
inline constexpr std::string_view kFileKind = "file";

/// Inputs without expected outputs: what a finished program is given where it has no reference of
/// another kind. Not a kind to evaluate against.
inline constexpr std::string_view kInputsKind = "inputs";

/// The kinds with a name of their own: what a toolchain computes, and "file". Besides there is
/// "engine:NAME", or "engine:NAME@BUILD": what that engine makes of the same program.
const std::vector<std::string>& named_reference_kinds();

/// Whether outputs can be evaluated against this.
bool is_reference_kind(std::string_view kind);

/// "onnxruntime" of "engine:onnxruntime", "executorch@mine" of "engine:executorch@mine"; nothing
/// for another kind.
std::optional<std::string> engine_of_kind(std::string_view kind);

/// The metric behind a name that may open with a kind: "sqnr_db" of "qdq.sqnr_db".
std::string_view without_reference_kind(std::string_view name);

/// Whether expected outputs belong to the case's inputs: a file of them is named, or the inputs
/// come from what may hold both.
bool has_expected_outputs(const Case& cell);

/// The same from the names alone: of the inputs' file, and of the expected outputs'.
bool has_expected_outputs(std::string_view input_file, std::string_view expected_file);

}  // namespace assay
