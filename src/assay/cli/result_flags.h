#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {

/// An answer that is no table of cases, in the forms that people and programs read. Each text ends
/// with a line feed.
struct ResultTexts {
  std::function<std::string(bool has_colour)> console;
  std::function<std::string()> json;
};

/// Flags for the output of such an answer: compare, profile, calibrate and reduce. Its formats are
/// console, json and md, which is the console's text as a block.
struct ResultFlags {
  std::string format = "console";
  std::string out = "-";
  std::vector<std::string> files;  ///< More files; each one's extension names its format.

  void declare(CLI::App& app);
  /// Checks that each file has a format and can be written, before anything is measured.
  /// Errors: kInvalidArgument (extension), kUnavailable (file).
  [[nodiscard]] Status check() const;
  /// Writes the answer to stdout or --out, and to every file.
  /// Errors: kExhausted when a file cannot be written.
  [[nodiscard]] Status write(const ResultTexts& texts) const;
};

}  // namespace assay::cli
