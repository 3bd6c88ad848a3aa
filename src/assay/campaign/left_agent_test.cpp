#include "assay/campaign/left_agent.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include <unistd.h>

#include "assay/device/process_space.h"

namespace assay {
namespace {

/// This machine's text for a process that has ended.
std::string ended_holder() {
  auto holder = process_identity();
  const auto own = fmt::format("process {} ", ::getpid());
  return holder.replace(0, own.size(), "process 999999998 ");
}

TEST(LeftAgent, IsOneWhoseHostProcessHasEnded) {
  EXPECT_TRUE(is_holder_gone(ended_holder()));
  EXPECT_TRUE(is_holder_gone(ended_holder() + ", connection 2"));
}

TEST(LeftAgent, IsNotOneOfALivingProcessOrOfAnotherMachine) {
  EXPECT_FALSE(is_holder_gone(process_identity()));
  EXPECT_FALSE(is_holder_gone("process 999999998 on vm (0123456789ab)"));
  EXPECT_FALSE(is_holder_gone("process 999999998 on vm")) << "without the space";
  EXPECT_FALSE(is_holder_gone("process 999999998 (assay bench)")) << "a command there";
  EXPECT_FALSE(is_holder_gone(ended_holder() + std::string(1'000'000, 'x')))
      << "longer than any agent's";
}

}  // namespace
}  // namespace assay
