#include "assay/device/device_lock.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/limits.h"
#include "assay/base/result.h"
#include "assay/device/text_fields.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::chrono::milliseconds kRetryInterval{50};

/// "ssh:lab/3" -> "device-ssh%3alab%2f3.lock": two devices never share a file.
std::string lock_file_name(std::string_view device) {
  std::string name = "device-";
  for (const char c : device) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(byte) != 0 || c == '-' || c == '_';
    name += is_plain ? std::string(1, c) : fmt::format("%{:02x}", byte);
  }
  return name + ".lock";
}

/// Makes the folder for this user alone; refuses one that somebody else put there.
Status prepare_folder(const stdfs::path& folder) {
  std::error_code ignored;
  stdfs::create_directories(folder.parent_path(), ignored);
  const bool is_made = ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
  struct stat info{};
  if (!is_made || ::lstat(folder.c_str(), &info) != 0) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("cannot make the lock folder '{}': {}; set ASSAY_RUNTIME_DIR to a folder "
                    "that can be written",
                    folder.string(), text_from_errno(errno)));
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the lock folder '{}' belongs to somebody else; remove it, or set "
                            "ASSAY_RUNTIME_DIR",
                            folder.string()));
  }
  return {};
}

std::string own_command() {
  auto command = read_system_text("/proc/self/cmdline").value_or("");
  for (char& c : command) {
    c = std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
  }
  constexpr std::size_t kShown = 120;
  return command.size() > kShown ? command.substr(0, kShown) + "…" : command;
}

/// Leaves a line for those who wait.
void write_holder(int fd) {
  const auto line = fmt::format("process {} ({})\n", ::getpid(), own_command());
  const bool is_cut = ::ftruncate(fd, 0) == 0;
  // The lock holds without the line; a full disk only costs its text.
  [[maybe_unused]] const auto written = is_cut ? ::pwrite(fd, line.data(), line.size(), 0) : 0;
}

std::string read_holder(int fd) {
  std::array<char, 512> line{};
  const auto count = ::pread(fd, line.data(), line.size(), 0);
  const auto text = trimmed({line.data(), count > 0 ? static_cast<std::size_t>(count) : 0});
  return text.empty() ? "another process" : std::string(text);
}

/// True: ours now; false: held by another.
Result<bool> try_lock(int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return false;
    }
    if (errno != EINTR) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot lock the device: {}", text_from_errno(errno)));
    }
  }
  return true;
}

Status wait_for_lock(int fd, std::string_view device, const DeviceLock::Options& options) {
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours, try_lock(fd));
    if (is_ours) {
      return {};
    }
    const auto holder = read_holder(fd);
    if (!options.keep_waiting) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("device '{}' is in use by {}; wait until it ends, or end it", device,
                              holder));
    }
    if (!options.keep_waiting(holder)) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("gave up waiting for device '{}', in use by {}", device, holder));
    }
    std::this_thread::sleep_for(kRetryInterval);
  }
}

}  // namespace

stdfs::path lock_folder() {
  if (const char* folder = std::getenv("ASSAY_RUNTIME_DIR"); folder != nullptr && *folder != '\0') {
    return folder;
  }
  std::error_code error;
  const bool has_tmp = stdfs::is_directory("/tmp", error);
  return (has_tmp ? stdfs::path("/tmp") : stdfs::temp_directory_path(error)) /
         fmt::format("assay-{}", ::geteuid());
}

Result<DeviceLock> DeviceLock::acquire(std::string_view device, const Options& options) {
  const auto folder = options.folder.empty() ? lock_folder() : options.folder;
  ASSAY_RETURN_IF_ERROR(prepare_folder(folder));
  const auto path = folder / lock_file_name(device);
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot open '{}': {}", path.string(), text_from_errno(errno)));
  }
  // The file stays when the lock goes: removing it would let two processes lock two files of one
  // name.
  ASSAY_RETURN_IF_ERROR(wait_for_lock(file.get(), device, options));
  write_holder(file.get());
  return DeviceLock(std::move(file));
}

}  // namespace assay
