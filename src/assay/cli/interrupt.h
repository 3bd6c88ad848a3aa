#pragma once

namespace assay::cli {

/// Turns the first SIGINT, SIGTERM or SIGHUP into a flag, so that work stops after the current step
/// and reports what it has; the second one ends the program at once.
void catch_interrupts();

bool is_interrupted();

}  // namespace assay::cli
