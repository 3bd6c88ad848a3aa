#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/command/build_folder.h"
#include "assay/engines/command/command_program.h"

namespace assay::command {

/// The values of the placeholders.
struct Values {
  std::vector<std::string> inputs;   ///< Files.
  std::vector<std::string> outputs;  ///< Files.
  int iterations = 1;
  int warmup = 0;
  int threads = 0;                     ///< 0: as the command likes, and {threads} is an error.
  const BuildFolder* build = nullptr;  ///< Null: there is none, and {build} is an error.
  std::map<std::string, std::string> places;  ///< Paths by name.
  std::filesystem::path scratch;              ///< Holds the folders {scratch:NAME}.
};

/// The command lines of the steps: {input:N}, {output:N}, {inputs}, {outputs} (an argument each),
/// {iterations}, {warmup}, {threads}, {folder}, {build}, {build:NAME}, {place:NAME},
/// {scratch:NAME}; "{{" stands for a brace. A first argument with a slash is meant from the
/// program's folder. Errors: kInvalidArgument for a placeholder without a value, kUnavailable for a
/// build if there is none.
Result<std::vector<std::vector<std::string>>> command_lines_from(const CommandProgram& program,
                                                                 const Values& values);

/// Puts the values into one text, such as the name of a file.
Result<std::string> text_from_template(const std::string& text, const CommandProgram& program,
                                       const Values& values);

}  // namespace assay::command
