#include "assay/supervise/agent_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <sys/stat.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/folders.h"
#include "assay/base/result.h"
#include "assay/supervise/held_device.h"
#include "assay/supervise/held_settings.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kAgentPrefix = "assay-agent-";
constexpr const char* kRunningProgram = "/proc/self/exe";

Result<HeldDevice> wait_for_device(const stdfs::path& home, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kRetry{50};
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(auto taken, HeldDevice::take(home, "assay device release"));
    if (auto* const ours = std::get_if<HeldDevice>(&taken)) {
      return std::move(*ours);
    }
    if (std::chrono::steady_clock::now() > end) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("the device is in use by {}; wait until it ends, or end it",
                              std::get<DeviceHolder>(taken).text));
    }
    std::this_thread::sleep_for(kRetry);
  }
}

Status remove_wholly(const stdfs::path& path) {
  std::error_code error;
  stdfs::remove_all(path, error);
  return error ? fail(ErrorCode::kUnavailable,
                      fmt::format("cannot remove '{}': {}; remove it as the user whose it is",
                                  path.string(), error.message()))
               : Status();
}

/// The kernel lets nobody write into what is executed.
bool is_executed(const stdfs::path& program) {
  const FileDescriptor opened(::open(program.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return !opened.is_open() && errno == ETXTBSY;
}

/// A start sets the time of change (RemoteTransport).
bool was_started_lately(const struct stat& program) {
  constexpr std::time_t kHour = 3600;
  return std::time(nullptr) - program.st_mtim.tv_sec < kHour;
}

}  // namespace

Status clear_agent_home(const stdfs::path& home, std::chrono::milliseconds patience) {
  // Nothing else goes: the folder may be one that the user has other files in. Locks go last, while
  // that of the machine is held.
  constexpr std::array<const char*, 6> kParts = {"blobs", "trees",  "tmp",
                                                 "home",  "claims", "locks"};
  ASSAY_ASSIGN_OR_RETURN(const auto device, wait_for_device(home, patience));
  const auto told = HeldSettings(home).restore_left();
  Status status;
  auto doomed = entries_with(home, kAgentPrefix);
  std::ranges::transform(kParts, std::back_inserter(doomed),
                         [&home](const char* part) { return home / part; });
  for (const auto& path : doomed) {
    const auto removed = remove_wholly(path);
    status = status ? removed : status;
  }
  std::error_code ignored;
  if (status && stdfs::exists(home / "settings", ignored)) {
    return fail(ErrorCode::kUnavailable, told);
  }
  stdfs::remove(home, ignored);  // Unless it holds files of the user.
  return status;
}

void remove_unused_agents(const stdfs::path& home) {
  struct stat own{};
  ::stat(kRunningProgram, &own);
  for (const auto& program : entries_with(home, kAgentPrefix)) {
    struct stat info{};
    const bool is_file = ::lstat(program.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    const bool is_own = info.st_dev == own.st_dev && info.st_ino == own.st_ino;
    if (is_file && !is_own && !was_started_lately(info) && !is_executed(program)) {
      std::error_code ignored;
      stdfs::remove(program, ignored);
    }
  }
}

void remove_left_wrappers(const stdfs::path& home) {
  for (const auto& folder : entries_with(home / "tmp", "wrapped-")) {
    std::error_code ignored;
    stdfs::remove_all(folder, ignored);
  }
}

}  // namespace assay
