#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// A program that keeps versions: git or hg. Runs without a shell, asks nothing on a terminal, and
/// heeds no variable by which a hook of git points to another repository.
class VersionControl {
 public:
  /// `how_to_install`: the end of the sentence where the program is absent.
  VersionControl(std::string program, std::string how_to_install)
      : program_(std::move(program)), how_to_install_(std::move(how_to_install)) {}

  /// Returns the program's output. Errors: kUnavailable when it is absent, or fails, with its last
  /// words; kTimeout.
  [[nodiscard]] Result<std::string> run(std::vector<std::string> arguments) const;
  /// Its lines.
  [[nodiscard]] Result<std::vector<std::string>> lines(std::vector<std::string> arguments) const;
  /// The texts of its output that end with a NUL each, as with git's -z; they may be empty.
  [[nodiscard]] Result<std::vector<std::string>> records(std::vector<std::string> arguments) const;
  /// True where it ends with 0.
  [[nodiscard]] Result<bool> succeeds(std::vector<std::string> arguments) const;

 private:
  std::string program_;
  std::string how_to_install_;
};

/// Lines of a text, without empty ones.
std::vector<std::string> lines_of(std::string_view text);

/// Parts between separators, empty ones included; the last takes the rest at most `most` parts.
std::vector<std::string> fields_of(std::string_view text, char separator, std::size_t most);

}  // namespace assay
