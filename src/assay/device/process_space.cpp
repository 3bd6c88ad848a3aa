#include "assay/device/process_space.h"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <system_error>

#include <signal.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "assay/base/digest.h"
#include "assay/device/text_fields.h"

namespace assay {

std::string process_space() {
  constexpr std::size_t kDigits = 12;
  std::error_code error;
  const auto space = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  const auto boot = read_system_text("/proc/sys/kernel/random/boot_id").value_or("");
  return boot.empty() || space.empty() ? "" : sha256_hex(boot + space).substr(0, kDigits);
}

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "";
}

std::string process_identity() {
  const auto host = host_name();
  return fmt::format("process {} on {} ({})", ::getpid(), host.empty() ? "another machine" : host,
                     process_space());
}

bool is_process_alive(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

}  // namespace assay
