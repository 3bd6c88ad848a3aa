#pragma once

#include <memory>

#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"
#include "assay/engines/fake/lies.h"

namespace assay::fake {

/// An engine for tests: slow, wrong, leaky, hanging, crashing on order. Programs: fake_program.h.
///
/// Options: `threads` (1 and more; more than 4 become 4, so that asked and effective differ) and
/// `mode` ("fast", or "slow": ten times the execute time). With the environment variable
/// ASSAY_FAKE_DESCRIBE={"do": …} it misbehaves when it describes itself.
class FakeEngine final : public Engine {
 public:
  Result<EngineDescription> describe() override;
  Result<std::unique_ptr<Session>> load(const LoadRequest& request) override;

 private:
  std::unique_ptr<Liar> liar_;  ///< Set from the first program with lies on.
};

}  // namespace assay::fake
