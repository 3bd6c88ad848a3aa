#include "assay/campaign/left_agent.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include <unistd.h>

#include "assay/device/process_space.h"

namespace assay {
namespace {

/// The message of a lock that a holder refuses.
std::string refusal_of(const std::string& holder) {
  return fmt::format(
      "the device is in use by {}; wait until it ends, or end it (its agent there is process 214 "
      "(/home/board/.cache/assay-agent/assay-agent-75ff))",
      holder);
}

/// This machine's text for a process that has ended.
std::string ended_holder() {
  auto holder = process_identity();
  const auto own = fmt::format("process {} ", ::getpid());
  return holder.replace(0, own.size(), "process 999999998 ");
}

TEST(LeftAgent, IsOneWhoseHostProcessHasEnded) {
  EXPECT_EQ(find_left_agent(refusal_of(ended_holder())), "214");
}

TEST(LeftAgent, IsNotOneOfALivingProcessOrOfAnotherMachine) {
  EXPECT_FALSE(find_left_agent(refusal_of(process_identity())));
  EXPECT_FALSE(find_left_agent(refusal_of("process 999999998 on vm (0123456789ab)")));
  EXPECT_FALSE(find_left_agent(refusal_of("process 999999998 on vm"))) << "of an older version";
  EXPECT_FALSE(find_left_agent("lost the agent"));
  EXPECT_FALSE(find_left_agent(refusal_of(ended_holder()) + std::string(1'000'000, 'x')))
      << "longer than any agent's";
}

}  // namespace
}  // namespace assay
