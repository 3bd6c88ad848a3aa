#include "assay/device/device_lock.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
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
Status prepare_folder(const stdfs::path& folder, bool takes_any_owner) {
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
  if (!S_ISDIR(info.st_mode) || (!takes_any_owner && info.st_uid != ::geteuid())) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format(
            "the lock folder '{}' belongs to another user; remove it, or set ASSAY_RUNTIME_DIR",
            folder.string()));
  }
  return {};
}

/// A folder such as /tmp: everybody may write to it, and nobody remove what is another's.
bool is_open_to_all(const char* folder) {
  struct stat info{};
  constexpr mode_t kOpenToAll = S_ISVTX | S_IWOTH;
  return ::lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) &&
         (info.st_mode & kOpenToAll) == kOpenToAll && info.st_uid == 0;
}

/// Opens the file, or makes it for all users. Never follows a link, and takes no file that has a
/// second name: it could be anybody's. Opening with O_CREAT what another user made is refused by
/// the kernel in such folders.
Result<FileDescriptor> open_lock_file(const stdfs::path& path) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  constexpr int kMostTries = 10;
  FileDescriptor file;
  for (int tries = 0; tries < kMostTries && !file.is_open(); ++tries) {
    file = FileDescriptor(::open(path.c_str(), kFlags));
    if (!file.is_open() && errno == ENOENT) {
      file = FileDescriptor(::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0666));
      if (file.is_open()) {
        ::fchmod(file.get(), 0666);
      }
    }
    if (!file.is_open() && errno != ENOENT && errno != EEXIST) {
      break;
    }
  }
  if (!file.is_open()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot open the lock '{}': {}; remove it, or set ASSAY_RUNTIME_DIR to "
                            "a folder of yours",
                            path.string(), text_from_errno(errno)));
  }
  struct stat info{};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the lock '{}' is no file of its own; remove it, or set "
                            "ASSAY_RUNTIME_DIR to a folder of yours",
                            path.string()));
  }
  return file;
}

/// `folder`: empty for lock_place().
Result<FileDescriptor> open_lock_of_device(std::string_view device, const stdfs::path& folder,
                                           bool takes_any_owner) {
  const auto place = folder.empty() ? lock_place() : LockPlace{.folder = folder};
  if (!place.is_shared) {
    ASSAY_RETURN_IF_ERROR(prepare_folder(place.folder, takes_any_owner));
  }
  const auto name = lock_file_name(device);
  return open_lock_file(place.folder / (place.is_shared ? "assay-" + name : name));
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
void write_holder(int fd, const std::string& work) {
  const auto line = fmt::format("process {} ({})\n", ::getpid(), work);
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

/// `how`: LOCK_EX or LOCK_SH. True: ours now; false: held by another.
Result<bool> try_lock(int fd, int how) {
  while (::flock(fd, how | LOCK_NB) != 0) {
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

/// The first byte of the file, by which those who wait to own the device are seen. Locks of bytes
/// and the flock of the file do not hinder each other.
struct flock waiting_byte(short kind) {
  struct flock range{};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_len = 1;
  return range;
}

/// Shows that somebody waits, until the object goes.
class WaitingMark {
 public:
  explicit WaitingMark(int fd) : fd_(fd) { set(F_RDLCK); }
  WaitingMark(const WaitingMark&) = delete;
  WaitingMark& operator=(const WaitingMark&) = delete;
  ~WaitingMark() { set(F_UNLCK); }

 private:
  void set(short kind) const {
    auto range = waiting_byte(kind);
    ::fcntl(fd_, F_OFD_SETLK, &range);
  }
  int fd_;
};

Status wait_for_lock(int fd, std::string_view device, const DeviceLock::Options& options) {
  const WaitingMark mark(fd);
  for (bool is_first = true;; is_first = false) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours, try_lock(fd, LOCK_EX));
    if (is_ours) {
      return {};
    }
    if (is_first) {  // A holder that has just begun leaves its line a moment later.
      std::this_thread::sleep_for(kRetryInterval);
      continue;
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

LockPlace lock_place() {
  if (const char* folder = std::getenv("ASSAY_RUNTIME_DIR"); folder != nullptr && *folder != '\0') {
    return {.folder = folder};
  }
  if (is_open_to_all("/run/lock")) {
    return {.folder = "/run/lock", .is_shared = true};
  }
  if (is_open_to_all("/tmp")) {
    return {.folder = "/tmp", .is_shared = true};
  }
  constexpr const char* kOfPhones = "/data/local/tmp";
  std::error_code error;
  return {.folder = stdfs::is_directory(kOfPhones, error) ? stdfs::path(kOfPhones)
                                                          : stdfs::temp_directory_path(error),
          .is_shared = true};
}

Result<DeviceShare> DeviceShare::open(std::string_view device, const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(auto file, open_lock_of_device(device, options.folder, false));
  return DeviceShare(std::move(file), options.work);
}

Result<bool> DeviceShare::is_wanted() const {
  auto range = waiting_byte(F_WRLCK);
  if (::fcntl(file_.get(), F_OFD_GETLK, &range) != 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot ask who waits for the device: {}", text_from_errno(errno)));
  }
  return range.l_type != F_UNLCK;
}

Result<bool> DeviceShare::try_take() {
  ASSAY_ASSIGN_OR_RETURN(const bool has_priority, is_wanted());
  if (has_priority) {
    return false;
  }
  ASSAY_ASSIGN_OR_RETURN(const bool is_ours, try_lock(file_.get(), LOCK_SH));
  if (is_ours) {
    write_holder(file_.get(), work_);
  }
  return is_ours;
}

void DeviceShare::release() { ::flock(file_.get(), LOCK_UN); }

Result<DeviceLock> DeviceLock::acquire(std::string_view device, const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(auto file,
                         open_lock_of_device(device, options.folder, options.takes_any_owner));
  // The file stays when the lock goes: removing it would let two processes lock two files of one
  // name.
  ASSAY_RETURN_IF_ERROR(wait_for_lock(file.get(), device, options));
  write_holder(file.get(), options.work.empty() ? own_command() : options.work);
  return DeviceLock(std::move(file));
}

void DeviceLock::tell(const std::string& work) const { write_holder(file_.get(), work); }

}  // namespace assay
