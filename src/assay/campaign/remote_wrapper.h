#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/launch.h"
#include "assay/supervise/agent_client.h"

namespace assay {

/// The wrapper of a runner on a device, such as valgrind, and the folder there that it writes into.
class RemoteWrapper {
 public:
  /// Finds the wrapper of the request by its name in the device's PATH, and makes a folder there in
  /// place of the first one of LaunchRequest::writable. Errors: kUnsupported, with what to install;
  /// those of AgentClient::spawn().
  static Result<RemoteWrapper> place(AgentClient& agent, const LaunchRequest& request);

  [[nodiscard]] const std::vector<std::string>& argv() const { return argv_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// Brings the files that it wrote into a folder here, and removes them there. Errors: kCorrupt
  /// where they do not arrive whole; those of AgentClient::spawn() and of writing.
  Status fetch(AgentClient& agent, const std::filesystem::path& into) const;

 private:
  RemoteWrapper(std::vector<std::string> argv, std::string folder)
      : argv_(std::move(argv)), folder_(std::move(folder)) {}

  std::vector<std::string> argv_;
  std::string folder_;
};

}  // namespace assay
