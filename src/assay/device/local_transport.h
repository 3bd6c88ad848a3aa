#pragma once

#include <filesystem>
#include <string>

#include "assay/base/result.h"
#include "assay/device/transport.h"

namespace assay {

/// The machine we run on.
class LocalTransport final : public Transport {
 public:
  /// `agent`: the program; empty: assay-agent in $ASSAY_BIN_DIR, else beside this executable.
  explicit LocalTransport(std::filesystem::path agent = {});

  Result<AgentProcess> start_agent() override;
  [[nodiscard]] std::string describe() const override { return "local"; }
  [[nodiscard]] bool shares_files() const override { return true; }

 private:
  std::filesystem::path agent_;
};

/// Where the programs of this installation stand: $ASSAY_BIN_DIR, else beside this executable.
std::filesystem::path program_folder();

}  // namespace assay
