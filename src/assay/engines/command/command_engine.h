#pragma once

#include <memory>
#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"
#include "assay/engines/command/build_folder.h"

namespace assay::command {

/// Whose programs a runner runs: any, or those of one engine that was built from a commit.
struct CommandIdentity {
  std::string name = "command";
  std::string version = "1";
  std::optional<BuildFolder> build;
};

/// Any executable as an engine: it reads its inputs from files, leaves its outputs in files and
/// prints the time of each inference. The program says how to call it: command_program.h.
class CommandEngine final : public Engine {
 public:
  explicit CommandEngine(CommandIdentity identity = {}) : identity_(std::move(identity)) {}

  Result<EngineDescription> describe() override;
  Result<std::unique_ptr<Session>> load(const LoadRequest& request) override;

 private:
  CommandIdentity identity_;
};

}  // namespace assay::command
