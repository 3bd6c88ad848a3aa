#include "features/fleet/command_executor.h"

#include "features/fleet/executor.h"
#include "features/fleet/fleet_job.h"

#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr std::chrono::milliseconds kSoon{1};

class CommandScheduler : public testing::Test {
 protected:
  std::unique_ptr<Executor> executor(const std::string& poll = "true") {
    const Json entry{
        {"folder", folder_.path().string()},
        {"submit", {"/bin/sh", "-c", "echo '{command}' >> submitted; echo; echo 41;x", "sh"}},
        {"poll", {"/bin/sh", "-c", poll}},
        {"cancel", {"/bin/sh", "-c", "echo {id} >> cancelled"}},
        {"poll_every", "1ns"}};
    auto options = command_options_from_json(entry).value();
    options.submit[2] = "echo {device} {class} {n} >> " + (folder_.path() / "submitted").string() +
                        "; echo text; echo '41;cluster'";
    options.cancel[2] = "echo {id} >> " + (folder_.path() / "cancelled").string();
    return make_command_executor(std::move(options));
  }

  std::string text(const std::string& name) const {
    return read_file(folder_.path() / name).value_or("");
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
  FleetJob job_{
      .id = "job", .run = {.id = "run"}, .device = {.name = "pi5", .device_class = "test:2cpu"}};
};

TEST_F(CommandScheduler, SubmitsATryOnceForAllDrivers) {
  ASSERT_TRUE(executor()->submit(job_).has_value());
  ASSERT_TRUE(executor()->submit(job_).has_value());
  EXPECT_EQ(text("submitted"), "pi5 test:2cpu {n}\n");
  EXPECT_EQ(text("runs/run/job-0.id"), "41\n");
  job_.n = 1;
  ASSERT_TRUE(executor()->submit(job_).has_value());
  EXPECT_EQ(text("submitted"), "pi5 test:2cpu {n}\npi5 test:2cpu {n}\n");
}

TEST_F(CommandScheduler, SeesAPartAndForgetsIt) {
  const auto one = executor("echo RUNNING");
  ASSERT_TRUE(one->submit(job_).has_value());
  EXPECT_FALSE(one->next(kSoon).value().has_value());
  const auto part = folder_.path() / "runs" / "run" / "job-0.db";
  ASSERT_TRUE(write_file_atomically(part, "part").has_value());
  const auto event = one->next(kSoon).value();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, FleetEvent::Kind::kDone);
  EXPECT_EQ(event->part, part);
  ASSERT_TRUE(one->forget(part).has_value());
  EXPECT_FALSE(one->next(kSoon).value().has_value());
}

TEST_F(CommandScheduler, CallsAJobLostThatTheSchedulerForgot) {
  const auto one = executor("true");
  ASSERT_TRUE(one->submit(job_).has_value());
  EXPECT_FALSE(one->next(kSoon).value().has_value());  // Its part may be on its way.
  const auto event = one->next(kSoon).value();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, FleetEvent::Kind::kLost);
  EXPECT_EQ(event->job, "job");
  EXPECT_THAT(event->why, HasSubstr("41"));
}

TEST_F(CommandScheduler, TellsDriversToComeWhatWasLost) {
  const auto one = executor("true");
  EXPECT_EQ(one->submit(job_).value(), Submission::kQueued);
  EXPECT_EQ(executor()->submit(job_).value(), Submission::kFollowed);
  EXPECT_FALSE(one->next(kSoon).value().has_value());
  ASSERT_EQ(one->next(kSoon).value()->kind, FleetEvent::Kind::kLost);
  EXPECT_EQ(executor()->submit(job_).value(), Submission::kLostBefore);
  job_.n = 1;
  EXPECT_EQ(executor()->submit(job_).value(), Submission::kQueued);
}

TEST_F(CommandScheduler, LosesNothingWhileTheSchedulerCannotBeAsked) {
  auto entry = Json{{"folder", folder_.path().string()},
                    {"submit", {"/bin/sh", "-c", "echo 41"}},
                    {"poll", {(folder_.path() / "squeue").string(), "{id}"}},
                    {"poll_every", "1ns"}};
  const auto one = make_command_executor(command_options_from_json(entry).value());
  ASSERT_TRUE(one->submit(job_).has_value());
  for (int look = 0; look < 4; ++look) {
    EXPECT_FALSE(one->next(kSoon).value().has_value());
  }
}

TEST_F(CommandScheduler, TakesBackTheJobsOfARun) {
  const auto one = executor();
  ASSERT_TRUE(one->submit(job_).has_value());
  EXPECT_EQ(one->queues().value().front().waiting, 1);
  EXPECT_EQ(one->cancel("run").value(), 1);
  EXPECT_EQ(text("cancelled"), "41\n");
  EXPECT_TRUE(one->queues().value().empty());
}

TEST_F(CommandScheduler, TellsADriverThatItsJobsWereTakenBack) {
  const auto driver = executor("true");
  ASSERT_TRUE(driver->submit(job_).has_value());
  EXPECT_EQ(executor()->cancel("run").value(), 1);
  EXPECT_FALSE(driver->next(kSoon).value().has_value());
  const auto event = driver->next(kSoon).value();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, FleetEvent::Kind::kCancelled);
  EXPECT_EQ(event->job, "job");
  EXPECT_EQ(executor()->submit(job_).value(), Submission::kQueued) << "as --resume does";
}

TEST_F(CommandScheduler, TellsWhatASchedulerSays) {
  const Json entry{{"folder", folder_.path().string()},
                   {"submit", {"/bin/sh", "-c", "echo no partition; exit 3"}}};
  const auto refused =
      make_command_executor(command_options_from_json(entry).value())->submit(job_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("no partition"));
}

TEST_F(CommandScheduler, RefusesAnEntryWithoutAFolderOrACommand) {
  EXPECT_FALSE(command_options_from_json({{"submit", {"sbatch"}}}).has_value());
  EXPECT_FALSE(command_options_from_json({{"folder", "/shared"}}).has_value());
  EXPECT_FALSE(
      command_options_from_json({{"folder", "/shared"}, {"submit", "sbatch"}}).has_value());
}

}  // namespace
}  // namespace assay
