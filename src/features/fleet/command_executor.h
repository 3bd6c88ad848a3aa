#pragma once

#include "features/fleet/executor.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// Commands of a scheduler that exists, and the folder that it shares with the driver:
/// docs/contracts/fleet.md, "Executor command".
struct CommandExecutorOptions {
  std::filesystem::path folder;     ///< Absolute; jobs, parts and descriptions of devices.
  std::vector<std::string> submit;  ///< Words with {job}, {out}, {command}, {class}, {device}, …
  std::vector<std::string> poll;    ///< Words with {id}; empty: the end is known by the part only.
  std::vector<std::string> cancel;  ///< Words with {id}; empty: jobs cannot be taken back.
  std::string assay = "assay";      ///< The program on the devices' hosts.
  std::int64_t poll_every_ns = 10'000'000'000;
};

/// Errors: kInvalidArgument, naming the key.
Result<CommandExecutorOptions> command_options_from_json(const Json& entry);

std::unique_ptr<Executor> make_command_executor(CommandExecutorOptions options);

}  // namespace assay
