#pragma once

#include <memory>
#include <openvino/runtime/core.hpp>

#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"

namespace assay::openvino {

/// OpenVINO through its C++ runtime, as the Python wheel ships it: IR, ONNX and TensorFlow Lite
/// programs on the CPU plugin, or on another device that is found.
class OpenvinoEngine final : public Engine {
 public:
  Result<EngineDescription> describe() override;
  Result<std::unique_ptr<Session>> load(const LoadRequest& request) override;

 private:
  /// One for the process, made at first use: making it may throw, and plug-ins stay loaded with it.
  Result<ov::Core*> core();

  std::unique_ptr<ov::Core> core_;
};

}  // namespace assay::openvino
