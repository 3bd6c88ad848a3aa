#pragma once

#include <string_view>

namespace assay {

/// InputSet::generator of the samples that a model brings along.
inline constexpr std::string_view kOwnInputs = "own";

}  // namespace assay
