#include "assay/campaign/hidden_interpreter.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "assay/base/find_on_path.h"
#include "assay/base/json.h"
#include "assay/base/relative_path.h"
#include "assay/spec/named_files.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

stdfs::path resolved(const stdfs::path& path) {
  std::error_code error;
  return stdfs::weakly_canonical(path, error);
}

/// The file that a shell would execute for a word; empty: none.
stdfs::path find_executable(const std::string& word, const stdfs::path& folder) {
  const auto named = word.contains('/') ? (folder / word).string() : word;
  return find_on_path(named).value_or(stdfs::path());
}

/// "#!/usr/bin/env python3" names env and python3; a binary nothing.
std::vector<std::string> words_of_shebang(const stdfs::path& script) {
  std::ifstream file(script);
  std::string line;
  if (file.get() != '#' || file.get() != '!' || !std::getline(file, line)) {
    return {};
  }
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) {
    words.push_back(word);
  }
  return words;
}

/// First words of the command and of its steps. Placeholders stand for what the sandbox shows.
std::vector<std::string> commands_of(const stdfs::path& program) {
  std::vector<std::string> commands;
  const auto document = read_json_file(program);
  if (!document || !document->is_object()) {
    return commands;
  }
  auto steps = document->value("steps", Json::array());
  if (!steps.is_array()) {
    steps = Json::array();  // The runner tells what is wrong with it.
  }
  steps.push_back(document->value("argv", Json::array()));
  for (const auto& step : steps) {
    const bool is_named = step.is_array() && !step.empty() && step.front().is_string();
    if (is_named && !step.front().get_ref<const std::string&>().contains('{')) {
      commands.push_back(step.front());
    }
  }
  return commands;
}

/// The folder that an executable was installed to: what a Python reads first is next to its bin.
stdfs::path installation_of(const stdfs::path& executable) {
  const auto folder = resolved(executable).parent_path();
  return folder.filename() == "bin" ? folder.parent_path() : folder;
}

}  // namespace

std::string hint_of_hidden_interpreter(const stdfs::path& program,
                                       std::span<const std::string> readable,
                                       const stdfs::path& home) {
  if (!is_command_program(program)) {
    return {};
  }
  std::vector<stdfs::path> executables;
  for (const auto& command : commands_of(program)) {
    executables.push_back(find_executable(command, program.parent_path()));
    for (const auto& word : words_of_shebang(executables.back())) {
      executables.push_back(find_executable(word, program.parent_path()));
    }
  }
  for (const auto& executable : executables) {
    const auto place = executable.empty() ? stdfs::path() : installation_of(executable);
    const bool is_shown = std::ranges::any_of(readable, [&place](const std::string& shown) {
      return path_below(place, resolved(shown)).has_value();
    });
    if (path_below(place, resolved(home)) && !is_shown) {
      return fmt::format(
          "the sandbox hides {}, where {} is installed: show it as a place "
          "(docs/reference/engines.md#command), or run with --sandbox=off",
          place.string(), executable.filename().string());
    }
  }
  return {};
}

}  // namespace assay
