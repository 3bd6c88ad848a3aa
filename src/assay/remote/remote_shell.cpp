#include "assay/remote/remote_shell.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/shell.h"
#include "assay/base/subprocess.h"
#include "assay/remote/address.h"
#include "assay/remote/failure_texts.h"

namespace assay {
namespace {

/// The words of a variable, or of its default.
std::vector<std::string> words_of(const char* variable, const char* program) {
  const char* value = std::getenv(variable);
  std::istringstream text(value != nullptr && *value != '\0' ? value : program);
  std::vector<std::string> words;
  for (std::string word; text >> word;) {
    words.push_back(word);
  }
  return words;
}

/// Dead links are noticed within 15 s; a password or a new host key is an error, no question.
std::vector<std::string> ssh_argv(const std::string& host, const std::string& command) {
  auto argv = words_of("ASSAY_SSH", "ssh");
  for (const char* word : {"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o",
                           "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "--"}) {
    argv.emplace_back(word);
  }
  argv.push_back(host);
  argv.push_back(command);
  return argv;
}

/// adb of this machine, or of the one that has the cable.
std::vector<std::string> adb_argv(const DeviceAddress& address,
                                  const std::vector<std::string>& words) {
  const bool is_here = address.host.empty();
  auto argv = is_here ? words_of("ASSAY_ADB", "adb") : std::vector<std::string>{"adb"};
  argv.insert(argv.end(), {"-s", address.serial});
  argv.insert(argv.end(), words.begin(), words.end());
  return is_here ? argv : ssh_argv(address.host, shell_command(argv));
}

/// Ends first, so that it is no loss of the connection that stops it.
constexpr const char* kReboot =
    "if [ \"$(id -u)\" = 0 ]; then as=; elif sudo -n true 2>/dev/null; then as='sudo -n'; else "
    "echo "
    "'no right to reboot' >&2; exit 1; fi; if [ -d /run/systemd/system ]; then by='systemctl "
    "reboot'; else by=reboot; fi; (sleep 1; $as $by) </dev/null >/dev/null 2>&1 &";

/// Words of adb after the server was killed: the new one looks for phones first.
constexpr std::string_view kServerStarted = "daemon started successfully";
constexpr std::int64_t kServerLooksNs = 10'000'000'000;
constexpr std::chrono::milliseconds kRetry{300};

}  // namespace

std::vector<std::string> RemoteShell::argv_for(const std::string& command) const {
  switch (address_.reach) {
    case Reach::kLocal:
    case Reach::kFolder:
      break;
    case Reach::kSsh:
      return ssh_argv(address_.host, command);
    case Reach::kAdb:
      return adb_argv(address_, {"shell", "-T", command});
  }
  return {"/bin/sh", "-c", command};
}

Error RemoteShell::explain(const Error& error, const std::string& program,
                           std::chrono::milliseconds timeout) const {
  switch (error.code) {
    case ErrorCode::kTimeout:
      return {ErrorCode::kUnavailable,
              fmt::format("device '{}' did not answer within {} s: is it on, and connected?",
                          address_.text(),
                          std::chrono::duration_cast<std::chrono::seconds>(timeout).count())};
    case ErrorCode::kNotFound:
      return {ErrorCode::kNotFound,
              fmt::format("device '{}' needs '{}', which is not installed here", address_.text(),
                          program)};
    default:
      return error;
  }
}

Result<std::string> RemoteShell::run(const std::string& command, std::string_view input,
                                     std::chrono::milliseconds timeout) const {
  return run_here(argv_for(command), input, timeout);
}

Status RemoteShell::reboot() const {
  constexpr std::chrono::seconds kPatience{30};
  const auto argv =
      address_.reach == Reach::kAdb ? adb_argv(address_, {"reboot"}) : argv_for(kReboot);
  const auto answer = run_here(argv, "", kPatience);
  return answer ? Status() : std::unexpected(answer.error());
}

Result<std::string> RemoteShell::run_here(const std::vector<std::string>& argv,
                                          std::string_view input,
                                          std::chrono::milliseconds timeout) const {
  auto answer = run_once(argv, input, timeout);
  if (answer || !answer.error().message.contains(kServerStarted)) {
    return answer;
  }
  const auto start_ns = monotonic_ns();
  while (!answer && monotonic_ns() - start_ns < kServerLooksNs) {
    std::this_thread::sleep_for(kRetry);
    answer = run_once(argv, input, timeout);
  }
  return answer;
}

Result<std::string> RemoteShell::run_once(const std::vector<std::string>& argv,
                                          std::string_view input,
                                          std::chrono::milliseconds timeout) const {
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-remote"));
  const auto words_file = folder.path() / "words";
  const auto input_file = folder.path() / "input";
  ASSAY_RETURN_IF_ERROR(write_file_atomically(input_file, input, 0600));
  // A file as stdin: a device that dies cannot block the writing of a pipe.
  const auto output = run_command({.argv = argv,
                                   .stderr_file = words_file.string(),
                                   .stdin_file = input_file.string(),
                                   .leads_group = true},
                                  timeout);
  const auto words = read_file(words_file).value_or("");
  if (!output) {
    return std::unexpected(explain(output.error(), argv.front(), timeout));
  }
  if (output->exit_code != 0) {
    return std::unexpected(error_from_failure(address_, output->exit_code, words));
  }
  return output->output;
}

}  // namespace assay
