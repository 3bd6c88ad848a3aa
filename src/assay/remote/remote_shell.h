#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/remote/address.h"

namespace assay {

/// Runs commands of a POSIX shell on a device, each over a connection of its own, through the ssh
/// or adb of this machine ($ASSAY_SSH and $ASSAY_ADB name others, with their options). Nothing is
/// ever asked for on a terminal.
class RemoteShell {
 public:
  explicit RemoteShell(DeviceAddress address) : address_(std::move(address)) {}

  /// A process here whose stdin, stdout and stderr are those of the command there.
  [[nodiscard]] std::vector<std::string> argv_for(const std::string& command) const;

  /// Runs the command to its end with these bytes as its stdin, and returns the lines that it
  /// printed. A server of adb that had to be started is given time to find its phones. Errors:
  /// those of error_from_failure() where it ended with another code than 0; kUnavailable where it
  /// does not end in time; kNotFound where ssh or adb is not installed.
  [[nodiscard]] Result<std::string> run(const std::string& command, std::string_view input,
                                        std::chrono::milliseconds timeout) const;

  /// Starts the device anew, soon after it returns. Errors: those of run(); kUnavailable where the
  /// user there may not.
  [[nodiscard]] Status reboot() const;

  [[nodiscard]] const DeviceAddress& address() const { return address_; }

 private:
  [[nodiscard]] Result<std::string> run_here(const std::vector<std::string>& argv,
                                             std::string_view input,
                                             std::chrono::milliseconds timeout) const;
  [[nodiscard]] Result<std::string> run_once(const std::vector<std::string>& argv,
                                             std::string_view input,
                                             std::chrono::milliseconds timeout) const;
  /// Why the program that reaches the device gave no answer.
  [[nodiscard]] Error explain(const Error& error, const std::string& program,
                              std::chrono::milliseconds timeout) const;

  DeviceAddress address_;
};

}  // namespace assay
