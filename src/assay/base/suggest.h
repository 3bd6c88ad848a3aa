#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// The one of `known` that a mistyped name most likely means, or empty: the nearest one where the
/// edit distance is at most a third of its length, or else the shortest that contains the name.
std::string find_nearest_name(std::string_view name, std::span<const std::string> known);

/// The tail of an error about an unknown name: "; did you mean 'x'?" when `find_nearest_name` finds
/// one of `known`, else "; known: a, b, c" (each once, at most 20 of them).
std::string suggestion_for(std::string_view name, std::span<const std::string> known);

}  // namespace assay
