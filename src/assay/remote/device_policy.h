#pragma once

#include <cstdint>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// When Assay's own folder on a device is emptied.
enum class Wipe : std::uint8_t { kNever, kBeforeRun, kAfterRun };

template <>
inline constexpr auto kEnumNames<Wipe> = std::to_array<EnumName<Wipe>>({
    {Wipe::kNever, "never"},
    {Wipe::kBeforeRun, "before_run"},
    {Wipe::kAfterRun, "after_run"},
});

/// When a device starts anew.
struct RebootPolicy {
  bool before_run = false;
  std::int64_t at_most_every_ns = 0;       ///< One that started less than this ago is left alone.
  std::int64_t wait_ns = 300'000'000'000;  ///< Limit of the wait for its return.
};

/// Settings and steps for a device that is measured on. By default it is left as it is.
struct DevicePolicy {
  std::string frequency = "leave";  ///< A text for frequency_target_from_text().
  bool keeps_awake = false;
  RebootPolicy reboot;
  Wipe wipe = Wipe::kNever;
  std::int64_t cool_down_ns = 0;                 ///< Pause between timed launches.
  std::int64_t return_wait_ns = 60'000'000'000;  ///< How long a lost device is waited for.
};

/// {"frequency": "max", "keep_awake": true, "reboot": {"before_run": true, "at_most_every": "6h",
/// "wait": "5min"}, "wipe": "before_run", "cool_down": "30s", "return_wait": "3min"}. Errors:
/// kInvalidArgument, naming the key.
Result<DevicePolicy> policy_from_json(const Json& document);

}  // namespace assay
