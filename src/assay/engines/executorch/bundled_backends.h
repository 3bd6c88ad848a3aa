#pragma once

#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/engine.h"

namespace assay::et {

/// Backends in libraries next to the runtime's own, each loaded when a program first needs it: what
/// it brings along (another engine, its threads) is no part of other launches.
///
/// Those that are not loaded yet, each with whether it could be. Loads nothing.
std::vector<BackendInfo> bundled_backends();

/// Loads the library of the backend `name` and lets it find what it is built upon. Nothing happens
/// for a backend that is registered already, or that is not there. Not thread-safe.
/// Errors: kUnavailable with the reason.
Status load_bundled_backend(std::string_view name);

}  // namespace assay::et
