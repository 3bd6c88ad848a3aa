#pragma once

#include <filesystem>
#include <string>

#include "assay/base/result.h"
#include "assay/device/transport.h"

namespace assay {

/// The machine we run on.
class LocalTransport final : public Transport {
 public:
  /// `agent`: the program; empty: assay-agent in $ASSAY_BIN_DIR, else next to this executable.
  explicit LocalTransport(std::filesystem::path agent = {});

  Result<AgentProcess> start_agent() override;
  [[nodiscard]] std::string describe() const override { return "local"; }
  [[nodiscard]] bool shares_files() const override { return true; }

 private:
  std::filesystem::path agent_;
};

/// Folder of the programs of this installation: $ASSAY_BIN_DIR, else that of this executable.
std::filesystem::path program_folder();

}  // namespace assay
