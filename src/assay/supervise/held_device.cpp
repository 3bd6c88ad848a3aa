#include "assay/supervise/held_device.h"

#include <cstddef>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/device/device_lock.h"
#include "assay/device/text_fields.h"

namespace assay {
namespace {

constexpr std::string_view kProcess = "process ";
constexpr std::string_view kAgentOf = " (agent of ";

/// Holder and agent are in one line, so that nobody sees those of two agents together.
std::string work_for(const std::string& holder) {
  constexpr std::size_t kLongest = 300;
  return fmt::format("agent of {}", printable(holder.substr(0, kLongest)));
}

/// "process 12 (agent of HOLDER)", or the line of a command: "process 12 (assay bench net.onnx)".
DeviceHolder holder_from_line(const std::string& line) {
  const auto at = line.find(kAgentOf);
  const auto agent =
      line.starts_with(kProcess) ? leading_integer(line.substr(kProcess.size())) : std::nullopt;
  if (at == std::string::npos || !agent || !line.ends_with(')')) {
    return {.text = line};
  }
  const auto start = at + kAgentOf.size();
  return {.text = line.substr(start, line.size() - start - 1), .agent = static_cast<int>(*agent)};
}

using LockAttempt = std::variant<DeviceLock, DeviceHolder>;

Result<LockAttempt> try_to_lock(std::string_view device, DeviceLock::Options options) {
  std::string line;
  options.keep_waiting = [&line](const std::string& holder) {
    line = holder;
    return false;
  };
  auto lock = DeviceLock::acquire(device, options);
  if (lock) {
    return LockAttempt(*std::move(lock));
  }
  return line.empty() ? Result<LockAttempt>(std::unexpected(lock.error()))
                      : LockAttempt(holder_from_line(line));
}

}  // namespace

Result<HeldDevice::Attempt> HeldDevice::take(const std::filesystem::path& home,
                                             const std::string& holder) {
  const auto work = work_for(holder);
  auto of_folder =
      try_to_lock("device", {.folder = home / "locks", .takes_any_owner = true, .work = work});
  if (!of_folder) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the device cannot be locked: {}", of_folder.error().message));
  }
  if (const auto* other = std::get_if<DeviceHolder>(&*of_folder)) {
    return Attempt(*other);
  }
  auto of_machine = try_to_lock("local", {.work = work});
  if (of_machine && std::holds_alternative<DeviceHolder>(*of_machine)) {
    return Attempt(std::get<DeviceHolder>(*of_machine));
  }
  return Attempt(HeldDevice(
      std::get<DeviceLock>(*std::move(of_folder)),
      of_machine ? std::optional(std::get<DeviceLock>(*std::move(of_machine))) : std::nullopt));
}

void HeldDevice::name_holder(const std::string& holder) const {
  const auto work = work_for(holder);
  of_folder_.tell(work);
  if (of_machine_) {
    of_machine_->tell(work);
  }
}

}  // namespace assay
