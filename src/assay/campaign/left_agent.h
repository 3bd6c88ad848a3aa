#pragma once

#include <string>

namespace assay {

/// True if a device is held for a process of this machine that has ended: its link broke, so that
/// nothing informed its agent. `holder`: begins with a process_identity(). False where that lives,
/// or is of another machine.
bool is_holder_gone(const std::string& holder);

}  // namespace assay
