#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The command line that runs a module as `python -m` does, without the current folder in the
/// module path: a json.py in that folder must not run. Python 3.10 has no option for this.
std::vector<std::string> python_module_argv(const std::filesystem::path& python,
                                            std::string_view module,
                                            const std::vector<std::string>& arguments = {});

/// Starts a script given as text; its imports may begin at once.
std::vector<std::string> python_text_argv(const std::filesystem::path& python,
                                          std::string_view script);

/// Keeps the current folder out of the module path of the interpreters that a library starts
/// (Python 3.11 and later heed it).
std::map<std::string, std::string> python_environment();

}  // namespace assay
