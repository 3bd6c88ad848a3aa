#pragma once

#include <string>

namespace assay {

/// Twelve hexadecimal digits that stand for the name space of this process's id: one of one start
/// of one machine. Empty where the system tells it not.
std::string process_space();

/// "process 214 on laptop (0123456789ab)": this process, told apart from those of other machines,
/// which may have the same host name.
std::string process_identity();

/// Whether a process of this name space has not ended. `id`: decimal.
bool is_process_alive(const std::string& id);

}  // namespace assay
