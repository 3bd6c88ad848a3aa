#include "assay/supervise/keep_awake.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>

#include "assay/base/fs.h"

namespace assay {
namespace {

/// Programs of a device, which write down how they were called.
class KeepAwakeTest : public testing::Test {
 public:
  KeepAwakeTest() : path_(std::getenv("PATH")) {
    ::setenv("PATH", fmt::format("{}:{}", folder_.path().string(), path_).c_str(), 1);
  }
  ~KeepAwakeTest() override { ::setenv("PATH", path_.c_str(), 1); }

  void add_program(const std::string& name, const std::string& body) {
    const auto script = fmt::format("#!/bin/sh\necho {} \"$@\" >>{}\n{}\n", name, log(), body);
    ASSERT_TRUE(write_file_atomically(folder_.path() / name, script, 0755).has_value());
  }
  [[nodiscard]] std::string log() const { return (folder_.path() / "log").string(); }
  [[nodiscard]] std::string calls() const { return read_file(log()).value_or(""); }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
  std::string path_;
};

TEST_F(KeepAwakeTest, SetsAPhoneAndPutsItBack) {
  add_program("svc", "");
  add_program("settings", "echo 3");
  const auto setting = KeptAwake::setting();
  EXPECT_EQ(setting, "3");
  EXPECT_EQ(KeptAwake::start()->by(), "svc power stayon");
  KeptAwake::restore(setting);
  EXPECT_EQ(calls(),
            "settings get global stay_on_while_plugged_in\nsvc power stayon true\n"
            "settings put global stay_on_while_plugged_in 3\n");
}

TEST_F(KeepAwakeTest, InhibitsSleepWhileItLives) {
  add_program("svc", "exit 1");
  add_program(
      "systemd-inhibit",
      fmt::format("while [ \"${{1#--}}\" != \"$1\" ]; do shift; done; \"$@\"; echo over >>{}",
                  log()));
  {
    const auto awake = KeptAwake::start();
    ASSERT_TRUE(awake.has_value());
    EXPECT_EQ(awake->by(), "systemd-inhibit");
    EXPECT_FALSE(calls().contains("over"));
  }
  add_program("systemd-inhibit", "exit 1");
  EXPECT_FALSE(KeptAwake::start().has_value()) << "it was refused";
}

}  // namespace
}  // namespace assay
