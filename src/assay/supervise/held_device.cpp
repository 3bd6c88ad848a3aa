#include "assay/supervise/held_device.h"

#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <system_error>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/device_lock.h"

namespace assay {

Result<HeldDevice> HeldDevice::take(const std::filesystem::path& folder) {
  auto holder_file = folder / "holder";
  std::string agent;
  const auto give_up = [&agent](const std::string& holder) {
    agent = holder;
    return false;
  };
  auto lock = DeviceLock::acquire("device", {.keep_waiting = give_up, .folder = folder});
  if (!lock && agent.empty()) {
    return std::unexpected(lock.error());
  }
  if (!lock) {
    const auto holder = read_file(holder_file).value_or("");
    return fail(ErrorCode::kUnavailable,
                fmt::format("the device is in use by {}; wait until it ends, or end it{}",
                            holder.empty() ? agent : holder,
                            holder.empty() ? "" : fmt::format(" (its agent there is {})", agent)));
  }
  std::error_code ignored;
  std::filesystem::remove(holder_file, ignored);  // Names the holder before this one.
  return HeldDevice(*std::move(lock), std::move(holder_file));
}

void HeldDevice::name_holder(const std::string& holder) const {
  // The lock holds without the text; a full disk only costs that.
  [[maybe_unused]] const auto written = write_file_atomically(holder_file_, holder);
}

}  // namespace assay
