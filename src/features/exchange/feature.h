#pragma once

#include "features/feature.h"

namespace assay::exchange {

/// Report formats of other tools.
extern const Feature kFeature;

}  // namespace assay::exchange
