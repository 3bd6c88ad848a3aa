#include "features/repository/place_lock.h"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/limits.h"
#include "assay/base/log.h"
#include "assay/base/result.h"

namespace assay {

Result<PlaceLock> PlaceLock::acquire(const std::filesystem::path& file,
                                     const std::function<bool()>& keep_going) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!opened.is_open()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot open '{}': {}", file.string(), text_from_errno(errno)));
  }
  constexpr std::chrono::milliseconds kPause{50};
  bool was_waited_for = false;
  while (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
    if (!was_waited_for) {
      log_line(LogLevel::kInfo,
               fmt::format("waiting for another process that uses '{}'", file.string()));
    }
    was_waited_for = true;
    if (keep_going && !keep_going()) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("gave up waiting for another process that uses '{}'", file.string()));
    }
    std::this_thread::sleep_for(kPause);
  }
  return PlaceLock(std::move(opened), was_waited_for);
}

PlaceLock::~PlaceLock() {
  if (file_.is_open()) {
    ::flock(file_.get(), LOCK_UN);
  }
}

}  // namespace assay
