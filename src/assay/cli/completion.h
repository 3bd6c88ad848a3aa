#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace assay::cli {

/// Words that may come next on a command line.
struct Completion {
  struct Word {
    std::string text;
    std::string description;  ///< One line; empty if there is none.
  };
  std::vector<Word> words;
  bool has_files = false;  ///< Names of files may stand there, too.
};

/// Completes the last of `words`, which follow the program's name; it may be empty. Verbs and flags
/// are those that `app` declares. Starts no process, so that a shell can ask at each press of a
/// key.
Completion complete(CLI::App& app, std::span<const std::string> words);

}  // namespace assay::cli
