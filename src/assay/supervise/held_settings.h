#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/supervise/keep_awake.h"
#include "assay/wire/agent_messages.h"

namespace assay {

/// Settings of a device that its agent changes: frequency, and whether it goes to sleep. They are
/// taken back when the object goes. The former ones lie in a file of the agent's folder meanwhile,
/// so that the next agent takes them back where this one was killed; after a reboot only that a
/// phone stays awake, which outlives it. Used only by who has the device (HeldDevice).
class HeldSettings {
 public:
  /// `home`: the agent's folder. `root`: where /proc and /sys are found.
  explicit HeldSettings(std::filesystem::path home, std::filesystem::path root = "/")
      : home_(std::move(home)), root_(std::move(root)) {}
  HeldSettings(const HeldSettings&) = delete;
  HeldSettings& operator=(const HeldSettings&) = delete;
  ~HeldSettings();

  /// Changes settings, after taking back earlier changes. Errors: kUnsupported, kUnavailable where
  /// the frequency cannot be set, with what to do; everything is as before then.
  Result<wire::PolicyReply> apply(const wire::Policy& policy);

  /// Takes back what a killed agent has changed, and says what that was, or why it could not;
  /// empty: nothing was left.
  std::string restore_left();

  /// The highest frequency that was set.
  [[nodiscard]] std::optional<double> frequency_hz() const { return frequency_hz_; }

 private:
  [[nodiscard]] std::filesystem::path file() const { return home_ / "settings"; }
  [[nodiscard]] std::string boot_id() const;
  /// Keeps a former setting in the file before it is changed.
  Status remember(const char* key, Json value);
  Result<std::vector<std::string>> set_frequency(const std::string& target);
  Status restore(const Json& former);
  Status restore_own();

  std::filesystem::path home_;
  std::filesystem::path root_;
  Json former_ = Json::object();  ///< Settings before this object changed them.
  std::optional<double> frequency_hz_;
  std::optional<KeptAwake> awake_;
};

/// As HeldSettings::restore_left(), where no agent of the folder has the device.
std::string restore_settings_left_in(const std::filesystem::path& home);

}  // namespace assay
