#include "assay/base/python_command.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

/// Drops the entry for the current folder; `sys` is built in, so this import reads no file.
constexpr std::string_view kForgetFolder = "import sys; sys.path[:] = filter(None, sys.path); ";
constexpr std::string_view kRunModule =
    "import runpy; runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)";

}  // namespace

std::vector<std::string> python_module_argv(const std::filesystem::path& python,
                                            std::string_view module,
                                            const std::vector<std::string>& arguments) {
  auto argv = python_text_argv(python, kRunModule);
  argv.emplace_back(module);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

std::vector<std::string> python_text_argv(const std::filesystem::path& python,
                                          std::string_view script) {
  return {python.string(), "-c", std::string(kForgetFolder).append(script)};
}

std::map<std::string, std::string> python_environment() { return {{"PYTHONSAFEPATH", "1"}}; }

}  // namespace assay
