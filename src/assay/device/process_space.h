#pragma once

#include <string>

#include <sys/types.h>

namespace assay {

/// Twelve hexadecimal digits that stand for the name space of this process's id: one of one start
/// of one machine. Empty where the system tells it not.
std::string process_space();

/// The name of this machine in its network; empty if it has none.
std::string host_name();

/// "process 214 on laptop (0123456789ab)": this process. The digits distinguish machines
/// with one host name.
std::string process_identity();

/// True if a process of this name space has not ended.
bool is_process_alive(pid_t process);

}  // namespace assay
