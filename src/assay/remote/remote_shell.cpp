#include "assay/remote/remote_shell.h"

#include <chrono>
#include <cstdlib>
#include <expected>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

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

std::vector<std::string> adb_argv(std::vector<std::string> program, const std::string& serial,
                                  const std::string& command) {
  for (const char* word : {"-s", serial.c_str(), "shell", "-T", command.c_str()}) {
    program.emplace_back(word);
  }
  return program;
}

}  // namespace

std::vector<std::string> RemoteShell::argv_for(const std::string& command) const {
  switch (address_.reach) {
    case Reach::kLocal:
      break;
    case Reach::kSsh:
      return ssh_argv(address_.host, command);
    case Reach::kAdb:
      if (address_.host.empty()) {
        return adb_argv(words_of("ASSAY_ADB", "adb"), address_.serial, command);
      }
      return ssh_argv(address_.host, shell_command(adb_argv({"adb"}, address_.serial, command)));
  }
  return {"/bin/sh", "-c", command};
}

Error RemoteShell::explain(const Error& error, const std::string& program,
                           std::chrono::milliseconds timeout) const {
  switch (error.code) {
    case ErrorCode::kTimeout:
      return {ErrorCode::kTimeout,
              fmt::format("device '{}' did not answer within {} s", address_.text(),
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
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-remote"));
  const auto words_file = folder.path() / "words";
  const auto input_file = folder.path() / "input";
  ASSAY_RETURN_IF_ERROR(write_file_atomically(input_file, input, 0600));
  // A file as stdin: a device that dies cannot block the writing of a pipe.
  const auto argv = argv_for(command);
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
