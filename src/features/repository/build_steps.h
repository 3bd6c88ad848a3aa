#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/device_lock.h"

namespace assay {

/// Commands that are run one after the other, in one folder, until one fails.
struct BuildSteps {
  std::vector<std::vector<std::string>> commands;
  std::map<std::string, std::string> env;  ///< All that they see.
  std::filesystem::path folder;            ///< Where they start.
  std::filesystem::path log;               ///< Takes all that they print.
  std::int64_t timeout_ns = 0;             ///< Limit of all together, without pauses.
  bool has_network = false;
  std::function<bool()> keep_going;  ///< False ends them; asked every 50 ms. Empty: never.
  std::vector<int> kept = {};        ///< Locks that last while any process of the build lives.
};

struct StepsEnd {
  std::string failure;      ///< Empty where all went well.
  bool was_killed = false;  ///< From outside, so the source may be right.
  bool is_late = false;     ///< It took longer than the time limit.
  double seconds = 0;       ///< Pauses excluded.
};

/// Runs them niced, without network where the kernel has namespaces. With each step ends all that
/// it started, in whatever session. Never while a timing owns the device: as soon as one waits to
/// own it, the group is stopped, and goes on when the device is free again. A build is stopped
/// rather than waited for, because one command may compile for an hour. Errors: kTimeout when
/// `keep_going` gave up; kUnavailable when a program is not installed; kExhausted when the disk is
/// full. What the commands themselves do wrong is a result.
Result<StepsEnd> run_build_steps(const BuildSteps& steps, DeviceShare& share);

}  // namespace assay
