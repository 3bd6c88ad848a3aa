#pragma once

namespace assay {

/// Adds to the core what the built features offer, the first time that it is called: for the start
/// of a program.
void register_features();

}  // namespace assay
