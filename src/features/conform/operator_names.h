#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// The operators of which the suite has cases, "aten.add.Tensor", sorted.
std::span<const std::string> operator_names();

/// Advice on a pattern of --match that fits no operator and cannot fit any, such as "add" where
/// "aten.add.Tensor" is meant; empty for any other. Patterns of whole names of cases, which have a
/// slash, and operators that only a newer torch may have are left to the toolchain.
std::string advice_on_pattern(std::string_view pattern);

}  // namespace assay
