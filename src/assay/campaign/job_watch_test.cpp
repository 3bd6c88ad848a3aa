#include "assay/campaign/job_watch.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/result.h"
#include "assay/remote/job_folder.h"
#include "assay/remote/job_worker.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

std::filesystem::file_time_type sign(int n) {
  return std::filesystem::file_time_type(std::chrono::seconds(n));
}

struct Watched {
  JobWorker worker{.environment = {},
                   .engines = {},
                   .claimed_within_ns = 10 * kSecond,
                   .answered_within_ns = 5 * kSecond,
                   .heartbeat_ns = 0};
  JobWatch watch{worker, {.wall_ns = 20 * kSecond}, 0};

  Status at(std::int64_t s, JobState state, JobWatch::SignOfLife last = {}) {
    return watch.check(state, last, s * kSecond);
  }
};

TEST(JobWatch, TakesAWorkerForAbsentThatClaimsNothing) {
  Watched job;
  EXPECT_TRUE(job.at(10, JobState::kOpen));
  const auto lost = job.at(11, JobState::kOpen);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(lost.error().message, HasSubstr("no worker took a job within 11 s"));
}

TEST(JobWatch, WaitsForAWorkerThatIsBusyWithJobsOfOthers) {
  Watched job;
  EXPECT_TRUE(job.at(9, JobState::kOpen, sign(1)));
  EXPECT_TRUE(job.at(18, JobState::kOpen, sign(2)));
  EXPECT_TRUE(job.at(28, JobState::kOpen, sign(2)));
  EXPECT_EQ(job.at(29, JobState::kOpen, sign(2)).error().code, ErrorCode::kUnavailable);
}

TEST(JobWatch, GivesAClaimedJobItsOwnLimitAndTheWayBack) {
  Watched job;
  EXPECT_TRUE(job.at(9, JobState::kClaimed));
  EXPECT_TRUE(job.at(34, JobState::kClaimed));
  const auto lost = job.at(35, JobState::kClaimed);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kCrashed);
}

TEST(JobWatch, StartsAnewWhereTheWorkerGivesAJobBack) {
  Watched job;
  EXPECT_TRUE(job.at(9, JobState::kClaimed));
  EXPECT_TRUE(job.at(12, JobState::kOpen));
  EXPECT_TRUE(job.at(22, JobState::kOpen));
  EXPECT_TRUE(job.at(23, JobState::kClaimed));
}

TEST(JobWatch, MissesSignsOfLifeOnlyOfWorkersThatGiveThem) {
  Watched silent;
  EXPECT_TRUE(silent.at(0, JobState::kClaimed));
  EXPECT_TRUE(silent.at(20, JobState::kClaimed));

  Watched job;
  job.worker.heartbeat_ns = kSecond;
  EXPECT_TRUE(job.at(0, JobState::kClaimed));
  EXPECT_TRUE(job.at(3, JobState::kClaimed, sign(1)));
  EXPECT_TRUE(job.at(6, JobState::kClaimed, sign(1)));
  const auto lost = job.at(7, JobState::kClaimed, sign(1));
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr("no sign of life for 4 s"));
}

TEST(JobWatch, WaitsForAJobThatIsBetweenTwoFolders) {
  Watched job;
  EXPECT_TRUE(job.at(1, JobState::kGone));
  EXPECT_TRUE(job.at(2, JobState::kClaimed));
  EXPECT_TRUE(job.at(3, JobState::kGone));
  EXPECT_TRUE(job.at(8, JobState::kGone));
  EXPECT_FALSE(job.at(9, JobState::kGone));
}

}  // namespace
}  // namespace assay
