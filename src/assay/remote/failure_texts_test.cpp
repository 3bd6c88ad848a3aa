#include "assay/remote/failure_texts.h"

#include <array>
#include <gtest/gtest.h>
#include <string_view>

#include "assay/base/result.h"
#include "assay/remote/address.h"

namespace assay {
namespace {

const DeviceAddress kBoard{.reach = Reach::kSsh, .host = "pi5"};
const DeviceAddress kPhone{.reach = Reach::kAdb, .serial = "S1"};

struct Told {
  DeviceAddress address;
  int exit_code;
  std::string_view words;
  ErrorCode code;
  std::string_view advice;
};

TEST(FailureTexts, SayWhatToDo) {
  // Words as OpenSSH 9.2 and adb 1.0.41 print them.
  const auto cases = std::to_array<Told>({
      {kBoard, 255, "ssh: Could not resolve hostname pi5: Name or service not known",
       ErrorCode::kUnavailable, "~/.ssh/config"},
      {kBoard, 255, "ssh: connect to host pi5 port 22: Connection refused", ErrorCode::kUnavailable,
       "start its sshd"},
      {kBoard, 255, "ssh: connect to host pi5 port 22: Connection timed out",
       ErrorCode::kUnavailable, "is it on"},
      {kBoard, 255, "me@pi5: Permission denied (publickey).", ErrorCode::kUnavailable,
       "ssh-copy-id"},
      {kBoard, 255,
       "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.",
       ErrorCode::kUnavailable, "ssh-keygen -R"},
      {kBoard, 126, "bash: ./assay-agent: cannot execute binary file: Exec format error",
       ErrorCode::kUnsupported, "another processor"},
      {kBoard, 127, "bash: sha256sum: command not found", ErrorCode::kUnavailable,
       "a program is missing there"},
      {kBoard, 1, "no right to reboot", ErrorCode::kUnavailable, "sudo without a password"},
      {kPhone, 1, "adb: device unauthorized.", ErrorCode::kUnavailable, "USB debugging"},
      {kPhone, 1, "adb: device 'S1' not found", ErrorCode::kUnavailable, "adb devices"},
      {kPhone, 1, "cat: write error: No space left on device", ErrorCode::kExhausted, "full"},
      {kPhone, 3, "some words", ErrorCode::kUnavailable, "exit code 3"},
  });
  for (const auto& one : cases) {
    const auto error = error_from_failure(one.address, one.exit_code, one.words);
    EXPECT_EQ(error.code, one.code) << one.words;
    EXPECT_TRUE(error.message.contains(one.advice)) << error.message;
    EXPECT_TRUE(error.message.contains(one.address.text())) << error.message;
  }
}

}  // namespace
}  // namespace assay
