#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// The tail of an error about an unknown name: "; did you mean 'x'?" when one of `known` is near
/// (edit distance of at most a third of its length), else "; known: a, b, c" (at most 20 of them).
std::string suggestion_for(std::string_view name, std::span<const std::string> known);

}  // namespace assay
