#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/agent_process.h"
#include "assay/device/transport.h"

namespace assay {

/// For tests: an agent on this machine that is treated as if it did not share our files, or any
/// program in its place.
class UnsharedTransport final : public Transport {
 public:
  explicit UnsharedTransport(std::vector<std::string> argv) : argv_(std::move(argv)) {}
  Result<AgentProcess> start_agent() override { return AgentProcess::start(argv_); }
  [[nodiscard]] std::string describe() const override { return "test"; }
  [[nodiscard]] bool shares_files() const override { return false; }

 private:
  std::vector<std::string> argv_;
};

/// The agent in the folder of the tests.
inline std::string agent_path() { return (executable_folder() / "assay-agent").string(); }

/// Bytes that a program wrote.
inline std::string output_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace assay
