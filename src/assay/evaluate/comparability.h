#pragma once

#include <optional>
#include <string>

#include "assay/base/json.h"

namespace assay {

/// Why a program and a reference may not be compared: they were made from different weights, inputs
/// or calibration samples, because a factory or a callable gives others at each call. Absent: their
/// digests agree, or there are none.
///
/// `manifest`: of the program, null for one that was made elsewhere; `reference`, `fed`: documents
/// of the reference and of the one whose inputs the program was given, null if it had its own.
/// docs/contracts/artifacts.md#comparability has the fields.
std::optional<std::string> why_not_comparable(const Json& manifest, const Json& reference,
                                              const Json& fed);

}  // namespace assay
