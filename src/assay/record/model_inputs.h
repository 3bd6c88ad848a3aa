#pragma once

#include <string_view>

namespace assay {

/// InputSet::generator of a set that takes the model's samples.
inline constexpr std::string_view kModelInputs = "model";

}  // namespace assay
