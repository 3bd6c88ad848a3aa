#include "assay/campaign/left_agent.h"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <regex>
#include <string>
#include <system_error>

#include <signal.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "assay/base/digest.h"
#include "assay/device/text_fields.h"

namespace assay {
namespace {

/// Process ids mean something in one name space of one start of one machine.
std::string mark_of_process_ids() {
  constexpr std::size_t kDigits = 12;
  std::error_code error;
  const auto space = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  const auto boot = read_system_text("/proc/sys/kernel/random/boot_id").value_or("");
  return boot.empty() || space.empty() ? "" : sha256_hex(boot + space).substr(0, kDigits);
}

bool is_alive(const std::string& process) {
  return ::kill(static_cast<pid_t>(std::stol(process)), 0) == 0 || errno != ESRCH;
}

}  // namespace

std::string lock_holder_text() {
  utsname names{};
  const std::string host = ::uname(&names) == 0 ? names.nodename : "another machine";
  return fmt::format("process {} on {} ({})", ::getpid(), host, mark_of_process_ids());
}

std::optional<std::string> find_left_agent(const std::string& refusal) {
  static const std::regex refusal_form(
      R"(process (\d{1,9}) on .* \(([0-9a-f]{12})\); .* process (\d{1,9}) \()");
  std::smatch parts;
  if (!std::regex_search(refusal, parts, refusal_form) || parts[2] != mark_of_process_ids() ||
      is_alive(parts[1])) {
    return std::nullopt;
  }
  return parts[3].str();
}

}  // namespace assay
