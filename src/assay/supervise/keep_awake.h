#pragma once

#include <optional>
#include <string>
#include <utility>

#include "assay/base/subprocess.h"

namespace assay {

/// Keeps the system from going to sleep, and a phone's screen on, while the object lives.
class KeptAwake {
 public:
  /// The setting of a phone that start() changes, for restore(); empty elsewhere, where nothing
  /// outlives the object.
  static std::string setting();

  /// By Android's `svc power stayon`, or else by `systemd-inhibit`; nullopt if there is neither,
  /// or it was refused.
  static std::optional<KeptAwake> start();

  static void restore(const std::string& setting);

  /// The program that does it.
  [[nodiscard]] const std::string& by() const { return by_; }

 private:
  KeptAwake(std::string by, std::optional<Subprocess> inhibitor)
      : by_(std::move(by)), inhibitor_(std::move(inhibitor)) {}

  std::string by_;
  std::optional<Subprocess> inhibitor_;  ///< Ends with this process.
};

}  // namespace assay
