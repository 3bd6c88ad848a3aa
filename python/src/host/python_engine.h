#pragma once

#include "host/python_call.h"

#include <memory>

#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"

namespace assay::host {

/// An engine that Python implements (assay.engines.Engine), behind assay.engines.adapter: what goes
/// over is JSON, and arrays.
class PythonEngine final : public Engine {
 public:
  /// `adapter`: has describe() and load(request), both speaking dictionaries. Made and destroyed
  /// with the lock held.
  explicit PythonEngine(nb::object adapter) : adapter_(std::move(adapter)) {}

  Result<EngineDescription> describe() override;
  Result<std::unique_ptr<Session>> load(const LoadRequest& request) override;

 private:
  nb::object adapter_;
};

}  // namespace assay::host
