#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

enum class Reach : std::uint8_t { kLocal, kSsh, kAdb, kFolder };

/// The way to a device: "local", "ssh:HOST", "adb:SERIAL", "adb:SERIAL@ssh:HOST" for a phone that
/// is connected to another machine, or "folder:DIR" for one without an agent, which takes jobs from
/// a folder. HOST is what ssh takes: a name of ~/.ssh/config, "user@name".
struct DeviceAddress {
  Reach reach = Reach::kLocal;
  std::string host;    ///< Host of ssh; for adb the machine with the cable, empty: this one.
  std::string serial;  ///< Serial of adb, "R58M12ABCDE" or "192.168.1.7:5555".
  std::string folder;  ///< Absolute path of the folder for jobs.

  [[nodiscard]] std::string text() const;
};

/// A relative DIR begins at our folder. Errors: kInvalidArgument, naming the forms, also for a host
/// or serial that a shell or an option parser could take for something else.
Result<DeviceAddress> address_from_text(std::string_view text);

}  // namespace assay
