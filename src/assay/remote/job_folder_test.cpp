#include "assay/remote/job_folder.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include <unistd.h>

#include "assay/base/digest.h"
#include "assay/base/folders.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/device/process_space.h"

namespace assay {
namespace {

using testing::HasSubstr;

/// A folder of jobs, and its worker's side by hand.
class JobFolderTest : public testing::Test {
 protected:
  Job job() {
    const auto program = place_.path() / "net.pte";
    EXPECT_TRUE(write_file_atomically(program, "program"));
    return {
        .engine = "fake@1",
        .build_id = "b",
        .files = {{.path = "program/net.pte", .source = program, .sha256 = sha256_hex("program")}},
        .env = {},
        .cpus = {},
        .limits = {},
        .frames = {}};
  }

  std::string offer() { return jobs_.offer(job()).value(); }

  void claim(const std::string& id) {
    std::filesystem::create_directories(root_ / "claimed");
    std::filesystem::rename(root_ / "jobs" / id, root_ / "claimed" / id);
  }

  void answer(const std::string& id, const Json& document, std::string_view output = "") {
    const auto folder = root_ / "answers" / id;
    EXPECT_TRUE(write_file_atomically(folder / "output", output));
    EXPECT_TRUE(write_file_atomically(folder / "answer.json", document.dump()));
  }

  static Json document_for(const std::string& id, std::string_view output = "") {
    return {{"schema", "assay/job-answer/1"},
            {"job", id},
            {"end", {{"exit_code", 0}, {"wall_ns", 5}}},
            {"output", {{"sha256", sha256_hex(output)}}}};
  }

  std::string why_refused(const std::string& id, const Json& document) {
    answer(id, document, "frames");
    const auto taken = jobs_.take_answer(id, {});
    return taken ? "" : taken.error().message;
  }

  TemporaryFolder place_ = TemporaryFolder::make("assay-test").value();
  std::filesystem::path root_ = place_.path() / "jobs";
  JobFolder jobs_{root_};
};

TEST_F(JobFolderTest, OffersWholeJobsWithTheirFilesByDigest) {
  const auto first = offer();
  const auto second = offer();
  EXPECT_LT(first, second) << "workers take jobs in the order of their names";
  const auto document = read_json_file(root_ / "jobs" / first / "job.json").value();
  EXPECT_EQ(document.at("job"), first);
  EXPECT_EQ(document.at("files").at(0).at("path"), "program/net.pte");
  EXPECT_EQ(document.at("host").at("process"), ::getpid());
  EXPECT_EQ(read_file(root_ / "blobs" / sha256_hex("program")).value(), "program");
  EXPECT_EQ(folders_in(root_ / "jobs").size(), 2U) << "nothing half written";
}

TEST_F(JobFolderTest, FollowsAJobToItsAnswer) {
  const auto id = offer();
  EXPECT_EQ(jobs_.state_of(id), JobState::kOpen);
  claim(id);
  EXPECT_EQ(jobs_.state_of(id), JobState::kClaimed);
  std::filesystem::create_directories(root_ / "answers" / id);
  EXPECT_EQ(jobs_.state_of(id), JobState::kClaimed) << "answer.json comes last";
  std::filesystem::remove_all(root_ / "claimed" / id);
  answer(id, document_for(id, "frames"), "frames");
  EXPECT_EQ(jobs_.state_of(id), JobState::kAnswered);
  const auto taken = jobs_.take_answer(id, {}).value();
  EXPECT_EQ(taken.result.end.wall_ns, 5);
  EXPECT_EQ(taken.result.output.size(), 6U);
  EXPECT_EQ(jobs_.state_of(id), JobState::kGone);
}

TEST_F(JobFolderTest, ReadsARefusal) {
  const auto id = offer();
  answer(id, {{"schema", "assay/job-answer/1"},
              {"job", id},
              {"error", {{"code", "unsupported"}, {"message", "no \x1b[31msuch engine"}}}});
  const auto taken = jobs_.take_answer(id, {}).value();
  ASSERT_TRUE(taken.refusal);
  EXPECT_EQ(taken.refusal->code, ErrorCode::kUnsupported);
  EXPECT_THAT(taken.refusal->message, testing::Not(HasSubstr("\x1b")));
}

TEST_F(JobFolderTest, RefusesAnswersThatAreNotWholeOrOfAnotherJob) {
  const auto id = offer();
  EXPECT_THAT(why_refused(id, Json::array()), HasSubstr("no object"));
  EXPECT_THAT(why_refused(id, document_for("other", "frames")), HasSubstr("job \"other\""));
  EXPECT_THAT(why_refused(id, document_for(id, "frame")), HasSubstr("digest"));
  auto other = document_for(id, "frames");
  other["schema"] = "assay/job-answer/2";
  EXPECT_THAT(why_refused(id, other), HasSubstr("assay/job-answer/2"));
  auto without_end = document_for(id, "frames");
  without_end.erase("end");
  EXPECT_THAT(why_refused(id, without_end), HasSubstr("end"));
  answer(id, document_for(id, "frames"), "frames");
  EXPECT_FALSE(jobs_.take_answer(id, {.output_bytes = 5})) << "more than the limit";
}

TEST_F(JobFolderTest, RemovesJobsOfProcessesThatEnded) {
  const auto alive = offer();
  const auto dead = offer();
  const auto file = root_ / "jobs" / dead / "job.json";
  auto document = read_json_file(file).value();
  constexpr int kNoProcess = 0x7FFFFFFE;
  document["host"]["process"] = kNoProcess;
  EXPECT_TRUE(write_file_atomically(file, document.dump()));
  const auto left = root_ / fmt::format(".{}-{}-{}", host_name(), process_space(), kNoProcess);
  std::filesystem::create_directories(left / "half");
  jobs_.withdraw_orphans();
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_EQ(jobs_.state_of(alive), JobState::kOpen);
  EXPECT_EQ(jobs_.state_of(dead), JobState::kGone);
}

/// Containers of one machine, and boards of one image, have one host name and their own processes.
TEST_F(JobFolderTest, KeepsJobsOfAnotherMachineOfTheSameName) {
  const auto id = offer();
  const auto file = root_ / "jobs" / id / "job.json";
  auto document = read_json_file(file).value();
  constexpr int kNoProcess = 0x7FFFFFFE;
  document["host"]["process"] = kNoProcess;
  document["host"]["space"] = "0123456789ab";
  EXPECT_TRUE(write_file_atomically(file, document.dump()));
  const auto staging = root_ / fmt::format(".{}-0123456789ab-{}", host_name(), kNoProcess);
  std::filesystem::create_directories(staging);
  jobs_.withdraw_orphans();
  EXPECT_EQ(jobs_.state_of(id), JobState::kOpen);
  EXPECT_TRUE(std::filesystem::exists(staging));
}

TEST_F(JobFolderTest, PutsADamagedFileAgain) {
  offer();
  const auto blob = root_ / "blobs" / sha256_hex("program");
  EXPECT_TRUE(write_file_atomically(blob, "pr0gram"));
  offer();
  EXPECT_EQ(read_file(blob).value(), "program");
}

TEST_F(JobFolderTest, RefusesAFileThatChangedAfterItsDigestWasMade) {
  auto late = job();
  EXPECT_TRUE(write_file_atomically(place_.path() / "net.pte", "pr0gram"));
  EXPECT_EQ(jobs_.offer(late).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(std::filesystem::exists(root_ / "blobs" / sha256_hex("program")));
}

TEST_F(JobFolderTest, TellsWorkOnJobsOfOthers) {
  EXPECT_FALSE(jobs_.last_work());
  const auto id = offer();
  const auto other = offer();
  claim(id);
  const auto claimed = jobs_.last_work();
  ASSERT_TRUE(claimed);
  const auto alive = root_ / "claimed" / id / "alive";
  EXPECT_TRUE(write_file_atomically(alive, ""));
  std::filesystem::last_write_time(alive, *claimed + std::chrono::seconds(1));
  EXPECT_EQ(jobs_.last_work(), *claimed + std::chrono::seconds(1));
  EXPECT_EQ(jobs_.state_of(other), JobState::kOpen);
}

TEST_F(JobFolderTest, ReadsTheWorkerAndSaysWhatToDoWithoutOne) {
  const auto missing = jobs_.read_worker();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(missing.error().message, HasSubstr("job_worker.py"));

  Json document = {{"schema", "assay/job-device/1"},
                   {"environment", {{"device_class", "ios-arm64:a17:6cpu"}, {"cpus", 6}}},
                   {"engines", Json::array()},
                   {"claimed_within", "2h"}};
  const auto write = [&] {
    EXPECT_TRUE(write_file_atomically(root_ / "device.json", document.dump()));
    return jobs_.read_worker();
  };
  const auto worker = write();
  ASSERT_TRUE(worker) << worker.error().message;
  EXPECT_EQ(worker->environment.cpus, 6);
  EXPECT_EQ(worker->environment.id.size(), 64U);
  EXPECT_EQ(worker->claimed_within_ns, 7'200'000'000'000);
  document["claimed_within"] = 5;
  EXPECT_EQ(write().error().code, ErrorCode::kCorrupt);
  document["claimed_within"] = "soon";
  EXPECT_FALSE(write());
  document["schema"] = "assay/job-device/2";
  EXPECT_EQ(write().error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace assay
