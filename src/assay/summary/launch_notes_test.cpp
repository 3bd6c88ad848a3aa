#include "assay/summary/launch_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LaunchNotes, SayNothingOfLaunchesThatEndedAlone) {
  EXPECT_THAT(notes_from_processes(std::vector<Launch>(3)), IsEmpty());
  EXPECT_THAT(notes_from_processes({}), IsEmpty());
}

TEST(LaunchNotes, TellOfProcessesThatWereLeft) {
  std::vector<Launch> launches(3);
  launches[1].end.left_processes = 2;
  EXPECT_THAT(notes_from_processes(launches),
              ElementsAre("a launch left 2 processes running, which were ended"));
}

TEST(LaunchNotes, TellOnceWhatTheSandboxEnforcedAndWhatNot) {
  std::vector<Launch> launches(2);
  for (auto& launch : launches) {
    launch.end.sandbox = SandboxReport{.mode = SandboxMode::kOn,
                                       .enforced = {"network", "system calls"},
                                       .missing = {"filesystem (Landlock: not there)"}};
  }
  EXPECT_THAT(
      notes_from_processes(launches),
      ElementsAre(
          "sandbox: network, system calls; not enforced: filesystem (Landlock: not there)"));
}

}  // namespace
}  // namespace assay
