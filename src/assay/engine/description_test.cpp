#include "assay/engine/description.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/record/boxed_command.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

using testing::HasSubstr;

/// A runner that notes each time it is asked, and depends on a file.
class DescriptionOfARunner : public testing::Test {
 protected:
  void SetUp() override {
    write(package_, "1");
    write_runner("1.0", fmt::format(R"(["{}"])", package_.string()));
  }

  /// Long since written, as what is installed mostly is.
  static void write(const stdfs::path& path, const std::string& content, int hours_ago = 2) {
    std::ofstream(path) << content;
    stdfs::last_write_time(path,
                           stdfs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
  }

  void write_runner(const std::string& version, const std::string& depends_on, int hours_ago = 2) {
    write(runner_,
          fmt::format("#!/bin/sh\necho asked >> {}\n"
                      "echo '{{\"name\": \"e\", \"version\": \"{}\", \"build_id\": \"b\", "
                      "\"depends_on\": {}}}'\n",
                      asked_.string(), version, depends_on),
          hours_ago);
    stdfs::permissions(runner_, stdfs::perms::owner_all);
  }

  Result<EngineBuild> describe() { return DescriptionCache(cache_).describe(runner_); }

  [[nodiscard]] auto times_asked() const {
    const auto text = read_file(asked_).value_or("");
    return std::ranges::count(text, '\n');
  }

  TemporaryFolder folder_ = TemporaryFolder::make("description").value();
  stdfs::path cache_ = folder_.path() / "cache";
  stdfs::path runner_ = folder_.path() / "runner";
  stdfs::path package_ = folder_.path() / "package";
  stdfs::path asked_ = folder_.path() / "asked";
};

TEST_F(DescriptionOfARunner, IsKept) {
  const auto first = describe().value();
  const auto second = describe().value();
  EXPECT_EQ(times_asked(), 1);
  EXPECT_EQ(first.reference(), "e@1.0");
  EXPECT_EQ(second.reference(), first.reference());
  EXPECT_EQ(second.build_id, "b");
  EXPECT_EQ(second.details, first.details);
  EXPECT_FALSE(second.details.contains("depends_on"));
}

TEST_F(DescriptionOfARunner, IsTakenAnewWhenWhatItDependsOnChanges) {
  ASSERT_TRUE(describe());
  write(package_, "2", /*hours_ago=*/1);
  ASSERT_TRUE(describe());
  EXPECT_EQ(times_asked(), 2);
  stdfs::remove(package_);
  ASSERT_TRUE(describe());
  EXPECT_EQ(times_asked(), 3);
  ASSERT_TRUE(describe());
  EXPECT_EQ(times_asked(), 3) << "that it is not there is kept too";
}

TEST_F(DescriptionOfARunner, IsTakenAnewWhenTheRunnerChanges) {
  ASSERT_TRUE(describe());
  write_runner("2.0", fmt::format(R"(["{}"])", package_.string()), /*hours_ago=*/1);
  EXPECT_EQ(describe().value().label, "2.0");
}

TEST_F(DescriptionOfARunner, IsTakenAnewWhenTheKeptOneIsDamaged) {
  ASSERT_TRUE(describe());
  for (const auto* damage : {"", "{", "{}", R"({"schema": "assay/description/1", "stamps": {}})"}) {
    for (const auto& entry : stdfs::directory_iterator(cache_)) {
      std::ofstream(entry.path()) << damage;
    }
    EXPECT_EQ(describe().value().label, "1.0") << damage;
  }
  EXPECT_EQ(times_asked(), 5);
}

TEST_F(DescriptionOfARunner, IsNotKeptWhileWhatItDependsOnMayStillChange) {
  write(package_, "just now", /*hours_ago=*/0);
  ASSERT_TRUE(describe());
  ASSERT_TRUE(describe());
  EXPECT_EQ(times_asked(), 2);
}

TEST_F(DescriptionOfARunner, IsNotKeptWhenItDoesNotSayWhatItDependsOn) {
  for (const auto* depends_on : {"[]", "null", "[1]", "\"text\""}) {
    write_runner("1.0", depends_on);
    const auto before = times_asked();
    ASSERT_TRUE(describe());
    ASSERT_TRUE(describe());
    EXPECT_EQ(times_asked(), before + 2) << depends_on;
  }
}

TEST_F(DescriptionOfARunner, OfABrokenOneIsItsReasonOfToday) {
  ASSERT_TRUE(describe());
  write(runner_, "#!/bin/sh\necho 'pip install it' >&2; exit 3\n", /*hours_ago=*/1);
  EXPECT_EQ(describe().error().message, "pip install it");
  write(runner_, "#!/bin/sh\necho 'now another' >&2; exit 3\n", /*hours_ago=*/0);
  EXPECT_EQ(describe().error().message, "now another");
}

TEST_F(DescriptionOfARunner, OfABrokenOneIsTheLastThatItSaid) {
  write(runner_, "#!/bin/sh\necho first >&2; echo 'pip it' >&2; exit 3\n");
  EXPECT_EQ(describe_runner(runner_).error().message, "pip it");
}

TEST_F(DescriptionOfARunner, OfAnotherShapeIsAnError) {
  write(runner_, "#!/bin/sh\necho '{\"name\": 1}'\n");
  const auto build = describe();
  ASSERT_FALSE(build);
  EXPECT_EQ(build.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(build.error().message, HasSubstr("--describe"));
}

TEST_F(DescriptionOfARunner, OfListsThatNobodyCanReadIsAnError) {
  for (const char* key : {"options", "backends"}) {
    for (const Json& list : {Json{"threads"}, Json(3), Json{Json::object()}}) {
      const auto build = build_from_description("/bin/runner", {{"name", "x"}, {key, list}});
      ASSERT_FALSE(build) << key << list.dump();
      EXPECT_THAT(build.error().message, HasSubstr("must be a list of objects with a \"name\""));
    }
    EXPECT_TRUE(build_from_description("/bin/runner", {{"name", "x"}, {key, Json::array()}}));
  }
}

TEST_F(DescriptionOfARunner, IsToldInTheSandboxThatIsAskedFor) {
  const auto probe = run_command(
      {.argv = boxed_command({.mode = SandboxMode::kRequired}, folder_.path().string(), {"true"}),
       .stderr_file = "/dev/null"},
      std::chrono::minutes(1));
  if (!probe || probe->exit_code != 0) {
    GTEST_SKIP() << "this kernel or container lacks Landlock, namespaces or seccomp";
  }
  const auto build = describe_runner(runner_, SandboxMode::kRequired);
  ASSERT_TRUE(build) << build.error().message;
  EXPECT_EQ(build->label, "1.0");
  EXPECT_EQ(times_asked(), 0) << "it writes beside itself";
  ASSERT_TRUE(describe_runner(runner_));
  EXPECT_EQ(times_asked(), 1);
}

}  // namespace
}  // namespace assay
