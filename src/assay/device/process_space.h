#pragma once

#include <string>

#include <sys/types.h>

namespace assay {

/// Twelve hexadecimal digits that stand for the name space of this process's id: one of one start
/// of one machine. Empty where the system tells it not.
std::string process_space();

/// The name of this machine in its network; empty where it has none.
std::string host_name();

/// "process 214 on laptop (0123456789ab)": this process, told apart from those of other machines,
/// which may have the same host name.
std::string process_identity();

/// Whether a process of this name space has not ended.
bool is_process_alive(pid_t process);

}  // namespace assay
