#include "assay/remote/failure_texts.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/remote/address.h"

namespace assay {
namespace {

/// Words of ssh, adb or a shell, and what they mean for who wants to use the device.
struct FailureText {
  std::string_view words;
  ErrorCode code;
  std::string_view advice;
};

// Sources: OpenSSH's sshconnect.c, adb's transport.cpp and adb_client, dash, toybox.
constexpr std::array<FailureText, 20> kFailures = {{
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", ErrorCode::kUnavailable,
     "its host key has changed: if the device was installed anew, remove the old key with "
     "ssh-keygen -R HOST and connect once by hand"},
    {"Host key verification failed", ErrorCode::kUnavailable,
     "its host key is not known: connect once by hand with ssh, and accept the key"},
    {"Could not resolve hostname", ErrorCode::kUnavailable,
     "no host of that name: check ~/.ssh/config and the name"},
    {"Permission denied (", ErrorCode::kUnavailable,
     "it refused the login: copy a key to it (ssh-copy-id HOST); a password is never asked for"},
    {"Connection refused", ErrorCode::kUnavailable, "nothing listens there: start its sshd"},
    {"No route to host", ErrorCode::kUnavailable,
     "it is not reachable: is it on, and in this network?"},
    {"Network is unreachable", ErrorCode::kUnavailable,
     "it is not reachable: is this machine in its network?"},
    {"Connection timed out", ErrorCode::kUnavailable,
     "it does not answer: is it on, and in this network?"},
    {"Operation timed out", ErrorCode::kUnavailable,
     "it does not answer: is it on, and in this network?"},
    {"unauthorized", ErrorCode::kUnavailable,
     "it has not allowed this computer: unlock it and accept the question about USB debugging"},
    {"device offline", ErrorCode::kUnavailable,
     "it is offline: plug it in again, or restart the server with adb kill-server"},
    {"no devices/emulators found", ErrorCode::kUnavailable,
     "no device is connected: plug it in and switch on USB debugging"},
    {"more than one device", ErrorCode::kInvalidArgument,
     "several devices are connected: name one by its serial (adb devices)"},
    {"not found", ErrorCode::kUnavailable,
     "it is not connected: plug it in (adb devices lists what is), or remove it from the list with "
     "assay device release NAME --forget"},
    {"failed to connect to", ErrorCode::kUnavailable, "it does not answer: adb connect it first"},
    {"No space left on device", ErrorCode::kExhausted,
     "its storage is full: make room, or run assay device release"},
    {"Read-only file system", ErrorCode::kUnavailable,
     "the folder cannot be written: give another with assay device add --folder"},
    {"no right to reboot", ErrorCode::kUnavailable,
     "its user may not start it anew: allow reboot by sudo without a password, or take \"reboot\" "
     "out of its policy"},
    {"Exec format error", ErrorCode::kUnsupported,
     "the program is for another processor: build the device's programs (make aarch64)"},
    {"not executable: 64-bit ELF file", ErrorCode::kUnsupported,
     "the program is for another processor: build the device's programs (make aarch64)"},
}};

constexpr int kCannotExecute = 126;
constexpr int kNoProgram = 127;

Error error_of(const DeviceAddress& address, ErrorCode code, std::string_view advice,
               std::string_view words) {
  const auto told = printable(words);
  return {.code = code,
          .message = fmt::format("device '{}': {}{}", address.text(), advice,
                                 told.empty() ? "" : fmt::format(" ({})", told))};
}

}  // namespace

Error error_from_failure(const DeviceAddress& address, int exit_code, std::string_view words) {
  const auto* found = std::ranges::find_if(
      kFailures, [words](const FailureText& failure) { return words.contains(failure.words); });
  const bool is_of_device = exit_code == kNoProgram && address.reach == Reach::kSsh;
  if (found != kFailures.end() && !is_of_device) {
    return error_of(address, found->code, found->advice, words);
  }
  if (exit_code == kCannotExecute) {
    return error_of(address, ErrorCode::kUnsupported, "it cannot execute the program", words);
  }
  if (exit_code == kNoProgram) {
    return error_of(address, ErrorCode::kUnavailable, "a program is missing there", words);
  }
  return error_of(address, ErrorCode::kUnavailable,
                  fmt::format("the connection ended with exit code {}", exit_code), words);
}

}  // namespace assay
