#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"

namespace assay {

/// Whether a launch is kept in a box: without network, with a read-only view of what it needs, a
/// private folder to write to, no other processes in reach.
enum class SandboxMode : std::uint8_t {
  kOff,
  kOn,        ///< Reports what the kernel cannot enforce.
  kRequired,  ///< Refuses to start if the kernel cannot enforce something.
};

template <>
inline constexpr auto kEnumNames<SandboxMode> = std::to_array<EnumName<SandboxMode>>({
    {SandboxMode::kOff, "off"},
    {SandboxMode::kOn, "on"},
    {SandboxMode::kRequired, "required"},
});

/// The box that a process is to run in.
struct SandboxRequest {
  SandboxMode mode = SandboxMode::kOff;
  std::vector<std::string> readable;  ///< Files and folders in addition to the system's own.
  std::vector<std::string> writable;  ///< Folders in addition to the private one.
  /// Only network and processes are kept apart, as for a build, which needs the compilers and
  /// libraries of this machine. The program starts in the folder as it is and keeps its
  /// descriptors.
  bool keeps_files = false;
};

/// Rules that a sandbox enforced, and those that it could not.
struct SandboxReport {
  SandboxMode mode = SandboxMode::kOff;
  std::vector<std::string> enforced;  ///< "network", "filesystem", "processes", …
  std::vector<std::string> missing;   ///< "filesystem (Landlock: Function not implemented)"
};

ASSAY_DECLARE_JSON(SandboxRequest);
ASSAY_DECLARE_JSON(SandboxReport);

}  // namespace assay
