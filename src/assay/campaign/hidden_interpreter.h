#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Tells what a command that failed in the sandbox may lack: an installation of a program, such
/// as a Python below the user's home, lies where the sandbox shows nothing. One sentence with what
/// helps; empty where all is shown, or the program is no command of this machine.
///
/// `program`: the *.command.json. `readable`: what the sandbox shows in addition to the system.
/// `home`: the user's.
std::string hint_of_hidden_interpreter(const std::filesystem::path& program,
                                       std::span<const std::string> readable,
                                       const std::filesystem::path& home);

}  // namespace assay
