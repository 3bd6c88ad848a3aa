#pragma once

#include <span>
#include <vector>

#include "assay/base/result.h"
#include "assay/engines/command/command_engine.h"

namespace assay::command {

/// The arguments of assay-runner-command: its own, and those of every runner (runner/runner.h).
///
///     --name NAME --version VERSION   what the engine calls itself
///     --build FOLDER                  what {build} in a program stands for
struct CommandArguments {
  CommandIdentity identity;
  std::vector<char*> rest;  ///< Arguments, the program's name first.
};

/// Errors: kInvalidArgument for an argument without a value and a name or version that is none, or
/// those of read_build_folder.
Result<CommandArguments> arguments_from(std::span<char*> argv);

}  // namespace assay::command
