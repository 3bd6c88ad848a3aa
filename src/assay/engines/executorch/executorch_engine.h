#pragma once

#include <memory>

#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"

namespace assay::et {

/// ExecuTorch through its C++ runtime as the Python wheel ships it: portable, optimized and
/// quantized kernels, the XNNPACK backend, and what a user's libraries register.
class ExecutorchEngine final : public Engine {
 public:
  ExecutorchEngine();
  Result<EngineDescription> describe() override;
  Result<std::unique_ptr<Session>> load(const LoadRequest& request) override;
};

}  // namespace assay::et
