#include "assay/device/local_transport.h"

#include <array>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>
#include <string_view>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/agent_process.h"

namespace assay {
namespace {

using testing::HasSubstr;

std::string read_all(int fd) {
  std::string text;
  std::array<char, 256> buffer{};
  for (ssize_t count = 0; (count = ::read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

TEST(AgentProcess, HasBothPipesAndEndsWhenTheyClose) {
  auto process = AgentProcess::start({"/bin/cat"});
  ASSERT_TRUE(process);
  const std::string_view word = "frames";
  ASSERT_EQ(::write(process->write_fd(), word.data(), word.size()), 6);
  std::array<char, 6> echo{};
  ASSERT_EQ(::read(process->read_fd(), echo.data(), echo.size()), 6);
  EXPECT_EQ(std::string_view(echo.data(), 6), word);
  EXPECT_EQ(process->close(), "exited with 0");
  EXPECT_EQ(process->close(), "exited with 0");
}

TEST(AgentProcess, InheritsNothingButStderr) {
  const int leaked = ::dup(STDERR_FILENO);
  auto process = AgentProcess::start({"/bin/sh", "-c", "ls /proc/self/fd | wc -l"});
  ASSERT_TRUE(process);
  // 0, 1, 2 and the folder that ls reads.
  EXPECT_EQ(read_all(process->read_fd()), "4\n");
  ::close(leaked);
}

TEST(AgentProcess, TellsWhichSignalEndedIt) {
  auto process = AgentProcess::start({"/bin/sh", "-c", "kill -SEGV $$"});
  ASSERT_TRUE(process);
  EXPECT_EQ(read_all(process->read_fd()), "");
  EXPECT_THAT(process->close(), HasSubstr("was ended by signal 11"));
}

TEST(AgentProcess, LivesInAProcessGroupOfItsOwn) {
  auto process = AgentProcess::start({"/bin/cat"});
  ASSERT_TRUE(process);
  EXPECT_EQ(::getpgid(process->pid()), process->pid());
}

TEST(AgentProcess, OfAMissingProgramIsUnavailable) {
  const auto process = AgentProcess::start({"/no/such/agent"});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(AgentProcess::start({}));
}

TEST(LocalTransport, TellsHowToGetAMissingAgent) {
  LocalTransport transport("/no/such/folder/assay-agent");
  const auto process = transport.start_agent();
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(process.error().message, HasSubstr("ASSAY_BIN_DIR"));
  EXPECT_EQ(transport.describe(), "local");
  EXPECT_TRUE(transport.shares_files());
}

TEST(ProgramFolder, IsWhereTheVariableSaysOrBesideUs) {
  ::setenv("ASSAY_BIN_DIR", "/opt/assay", 1);
  EXPECT_EQ(program_folder(), "/opt/assay");
  ::unsetenv("ASSAY_BIN_DIR");
  EXPECT_EQ(program_folder(), executable_folder());
}

}  // namespace
}  // namespace assay
