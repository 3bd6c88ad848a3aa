#pragma once

#include <memory>

#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"

namespace assay::command {

/// Any executable as an engine: it reads its inputs from files, leaves its outputs in files and
/// prints the time of each inference. The program says how to call it: command_program.h.
class CommandEngine final : public Engine {
 public:
  Result<EngineDescription> describe() override;
  Result<std::unique_ptr<Session>> load(const LoadRequest& request) override;
};

}  // namespace assay::command
