#pragma once

#include <string>
#include <vector>

namespace assay {

/// Executes a program, and ends whatever it leaves behind, in any session and group, as soon as it
/// has ended, SIGTERM, SIGINT or SIGHUP asks for that, or the process that started this one is
/// dead. No other child of this process may run.
///
/// Returns its exit code, 128 + the signal that ended it or was asked with, or 127 where it cannot
/// be executed, which is printed on stderr.
int run_whole_program(std::vector<std::string> argv);

}  // namespace assay
