#pragma once

#include <string_view>

namespace assay {

/// Reason code of an attempt that could not be made as its author asked for it: a name that names
/// nothing, inputs that do not fit the model. The fault is neither the model's nor Assay's.
inline constexpr std::string_view kInvalidRequest = "invalid_request";

}  // namespace assay
