#include "features/repository/builder.h"

#include "features/repository/build_cache.h"
#include "features/repository/build_key.h"
#include "features/repository/mirror.h"
#include "features/repository/place_lock.h"
#include "features/repository/repository_spec.h"
#include "features/repository/testing/scratch_repository.h"

#include <algorithm>
#include <chrono>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <stdlib.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/device/device_lock.h"
#include "assay/record/revision_build.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Copies a file of the source to the output, and counts how often it was built.
constexpr const char* kCopy =
    "echo built >> {work}/../count; mkdir -p bin; cp {source}/code bin/bench; echo some words";

class BuilderTest : public testing::Test {
 protected:
  BuilderTest() { use({shell_step(kCopy)}); }

  void use(std::vector<std::vector<std::string>> build) { spec_ = scratch_.spec(std::move(build)); }
  [[nodiscard]] Result<BuiltRevision> build(const std::string& revision,
                                            bool is_rebuild = false) const {
    const auto mirror = make_mirror(spec_, scratch_.home() / "mirror");
    const auto update = mirror->update();
    if (!update) {
      return std::unexpected(update.error());
    }
    return build_revision(*mirror, BuildCache(builds_folder(scratch_.home())), revision,
                          {.spec = spec_,
                           .environment = spec_.environments.front(),
                           .home = scratch_.home(),
                           .is_rebuild = is_rebuild,
                           .keep_going = keep_going_,
                           .lock_folder = scratch_.locks()});
  }
  [[nodiscard]] stdfs::path place() const {
    return repository_folder(scratch_.home(), spec_.repository) / "default";
  }
  [[nodiscard]] std::string log_of(const BuiltRevision& built) const {
    return read_file(built.entry.log()).value_or("");
  }
  [[nodiscard]] int builds_made() const {
    const auto text = read_file(place() / "count").value_or("");
    return static_cast<int>(std::ranges::count(text, '\n'));
  }

  ScratchRepository scratch_;
  RepositorySpec spec_;
  std::function<bool()> keep_going_;
};

TEST_F(BuilderTest, BuildsOnceWhatHasTheSameSources) {
  spec_.paths.exclude = {"*.md"};
  const auto first = scratch_.commit_file("code", "one");
  const auto documents = scratch_.commit_file("README.md", "words");
  const auto changed = scratch_.commit_file("code", "two");
  const auto reverted = scratch_.commit_file("code", "one");
  const auto built = build(first);
  ASSERT_TRUE(built.has_value()) << built.error().message;
  EXPECT_FALSE(built->is_cached);
  EXPECT_EQ(built->entry.outcome, BuildOutcome::kBuilt) << built->entry.reason;
  EXPECT_EQ(read_file(built->entry.output("bench")).value(), "one");
  EXPECT_EQ(log_of(*built), "some words\n");
  EXPECT_TRUE(built->entry.tools.contains("libc"));
  for (const auto& same : {first, documents, reverted}) {
    const auto again = build(same);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_TRUE(again->is_cached);
    EXPECT_EQ(again->entry.key, built->entry.key);
  }
  EXPECT_EQ(builds_made(), 1);
  EXPECT_NE(build(changed)->entry.key, built->entry.key);
  EXPECT_EQ(builds_made(), 2);
  EXPECT_FALSE(build(first, true)->is_cached);
  EXPECT_EQ(builds_made(), 3);
}

TEST_F(BuilderTest, KeysABuildByWhatItsBytesDependOn) {
  const auto& environment = spec_.environments.front();
  const auto key_with = [&](const auto& change) {
    auto other = environment;
    change(other);
    return build_key(spec_.repository, "content", other, {{"cc", "12"}});
  };
  const auto key = key_with([](BuildEnvironment&) {});
  EXPECT_EQ(key, key_with([](BuildEnvironment& other) { other.timeout_ns = 1; }));
  EXPECT_NE(key, key_with([](BuildEnvironment& other) { other.env["CXX"] = "clang++"; }));
  EXPECT_NE(key, key_with([](BuildEnvironment& other) { other.build.push_back({"true"}); }));
  EXPECT_NE(key, key_with([](BuildEnvironment& other) { other.outputs["x"] = "y"; }));
  EXPECT_NE(key, key_with([](BuildEnvironment& other) { other.has_network = true; }));
  EXPECT_NE(key, build_key(spec_.repository, "other", environment, {{"cc", "12"}}));
  EXPECT_NE(key, build_key(spec_.repository, "content", environment, {{"cc", "13"}}));
  auto other = spec_.repository;
  other.url = "elsewhere";
  EXPECT_NE(key, build_key(other, "content", environment, {{"cc", "12"}}));
}

TEST_F(BuilderTest, KeepsAFailedBuildWithItsLog) {
  use({shell_step("echo starting; exit 7"), shell_step("echo never")});
  const auto revision = scratch_.commit_file("code", "one");
  const auto failed = build(revision);
  ASSERT_TRUE(failed.has_value()) << failed.error().message;
  EXPECT_EQ(failed->entry.outcome, BuildOutcome::kFailed);
  EXPECT_THAT(failed->entry.reason,
              AllOf(HasSubstr("step 1 ("), HasSubstr("exit code 7: starting")));
  EXPECT_EQ(log_of(*failed), "starting\n");
  EXPECT_TRUE(build(revision)->is_cached) << "it would fail again";
}

TEST_F(BuilderTest, EndsABuildPastItsTimeWithAllThatItStarted) {
  use({shell_step("setsid sleep 1000 & sleep 1000")});
  spec_.environments.front().timeout_ns = 300'000'000;
  const auto revision = scratch_.commit_file("code", "one");
  const auto failed = build(revision);
  ASSERT_TRUE(failed.has_value()) << failed.error().message;
  EXPECT_EQ(failed->entry.outcome, BuildOutcome::kFailed);
  EXPECT_THAT(failed->entry.reason, HasSubstr("took longer than 300 ms"));
  EXPECT_TRUE(build(revision)->is_cached) << "it has no more time";
  // The lock of the place is inherited by every process of a build, and is free soon after the last
  // of them was killed.
  int asked = 0;
  EXPECT_TRUE(PlaceLock::acquire(place() / "lock", [&asked] { return ++asked < 50; }).has_value());
}

TEST_F(BuilderTest, BuildsAgainWithMoreTime) {
  use({shell_step("until test -e {work}/../go; do sleep 0.01; done; " + std::string(kCopy))});
  spec_.environments.front().timeout_ns = 300'000'000;
  const auto revision = scratch_.commit_file("code", "one");
  EXPECT_EQ(build(revision)->entry.outcome, BuildOutcome::kFailed);
  ASSERT_TRUE(write_file_atomically(place() / "go", ""));
  spec_.environments.front().timeout_ns = 600'000'000'000;
  const auto built = build(revision);
  ASSERT_TRUE(built.has_value()) << built.error().message;
  EXPECT_EQ(built->entry.outcome, BuildOutcome::kBuilt) << built->entry.reason;
}

TEST_F(BuilderTest, IsNoEntryWhenItIsInterrupted) {
  use({shell_step("sleep 1000")});
  int asked = 0;
  keep_going_ = [&asked] { return ++asked < 3; };
  const auto revision = scratch_.commit_file("code", "one");
  EXPECT_EQ(build(revision).error().code, ErrorCode::kTimeout);
  keep_going_ = {};
  use({shell_step(kCopy)});
  EXPECT_FALSE(build(revision)->is_cached);
}

TEST_F(BuilderTest, SaysThatAProgramIsNotInstalled) {
  use({{"no-such-compiler", "x"}});
  const auto failed = build(scratch_.commit_file("code", "one"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("'no-such-compiler'"));
  use({{"/no/such/compiler", "x"}});
  EXPECT_EQ(build(scratch_.commit_file("code", "two")).error().code, ErrorCode::kUnavailable);
  use({{"{source}/configure"}});
  EXPECT_EQ(build(scratch_.commit_file("code", "three"))->entry.outcome, BuildOutcome::kFailed);
}

TEST_F(BuilderTest, SeesTheVariablesOfItsEnvironmentAlone) {
  ::setenv("DEPLOY_TOKEN", "secret", 1);
  use({shell_step("env | sort; mkdir bin; env | cut -d= -f1 | sort > bin/bench")});
  spec_.environments.front().env = {{"FLAGS", "-I{source}"}};
  const auto built = build(scratch_.commit_file("code", "one"));
  ::unsetenv("DEPLOY_TOKEN");
  ASSERT_TRUE(built.has_value()) << built.error().message;
  EXPECT_THAT(log_of(*built), AllOf(HasSubstr(fmt::format("FLAGS=-I{}/source\n", place().string())),
                                    HasSubstr(fmt::format("HOME={}/home\n", place().string())),
                                    Not(HasSubstr("DEPLOY_TOKEN"))));
}

TEST_F(BuilderTest, EmptiesTheWorkFolderUnlessItIsReused) {
  const auto first = scratch_.commit_file("code", "one");
  const auto second = scratch_.commit_file("code", "two");
  use({shell_step("mkdir -p bin; ls > bin/bench; touch left")});
  EXPECT_TRUE(build(first));
  EXPECT_EQ(read_file(build(second)->entry.output("bench")).value(), "bin\n");
  EXPECT_TRUE(stdfs::is_empty(place() / "work")) << "a build leaves nothing on the disk";
  spec_.environments.front().reuses_work = true;
  EXPECT_TRUE(build(first));
  EXPECT_EQ(read_file(build(second)->entry.output("bench")).value(), "bin\nleft\n");
}

TEST_F(BuilderTest, TakesNoOutputOfAnEarlierBuild) {
  use(
      {shell_step("test $(cat {source}/code) = one || exit 0; mkdir -p bin; echo 1 > bin/bench; "
                  "touch bin/bench.o")});
  spec_.environments.front().reuses_work = true;
  const auto first = build(scratch_.commit_file("code", "one"));
  EXPECT_EQ(first->entry.outcome, BuildOutcome::kBuilt) << first->entry.reason;
  const auto second = build(scratch_.commit_file("code", "two"));
  EXPECT_EQ(second->entry.outcome, BuildOutcome::kFailed);
  EXPECT_THAT(second->entry.reason, HasSubstr("output 'bench' was not built"));
  EXPECT_TRUE(stdfs::exists(place() / "work/bin/bench.o")) << "the rest is used again";
}

TEST_F(BuilderTest, FailsWithoutItsOutput) {
  use({shell_step("true")});
  const auto failed = build(scratch_.commit_file("code", "one"));
  ASSERT_TRUE(failed.has_value()) << failed.error().message;
  EXPECT_THAT(failed->entry.reason, HasSubstr("output 'bench' was not built"));
}

TEST_F(BuilderTest, RefusesAProgramThatLoadsLibrariesFromTheWorkFolder) {
  const auto script = [](const std::string& path) {
    return shell_step(
        "echo 'int f() { return 0; }' > f.cpp; echo 'int f(); int main() { return f(); "
        "}' > main.cpp; mkdir bin; c++ -shared -fPIC -o bin/libf.so f.cpp; "
        "c++ -o bin/bench main.cpp -Lbin -lf -Wl,-rpath," +
        path);
  };
  if (!find_program("c++") || !find_program("readelf")) {
    GTEST_SKIP() << "no compiler";
  }
  const auto revision = scratch_.commit_file("code", "one");
  use({script("{work}/bin")});
  EXPECT_THAT(build(revision)->entry.reason,
              HasSubstr("would load libraries from the work folder"));
  use({script("{source}/lib")});
  EXPECT_THAT(build(revision)->entry.reason, HasSubstr("would load libraries from the source"));
  // A library without a name of its own is loaded from where the linker found it.
  use(
      {shell_step("mkdir bin; echo 'int main() { return 0; }' > main.cpp; "
                  "c++ -shared -fPIC -o {source}/libf.so -x c++ /dev/null; "
                  "c++ -o bin/bench main.cpp -Wl,--no-as-needed {source}/libf.so")});
  EXPECT_THAT(build(revision)->entry.reason, HasSubstr("would load libraries from the source"));
  use({script("'$ORIGIN'")});
  spec_.environments.front().outputs["library"] = "bin/libf.so";
  const auto built = build(revision).value();
  EXPECT_EQ(built.entry.reason, "");
  EXPECT_EQ(built.entry.files.size(), 2U);
  EXPECT_EQ(run_command({.argv = {built.entry.output("bench").string()}, .env = {}},
                        std::chrono::seconds(10))
                ->exit_code,
            0)
      << "it finds its library in the cache";
}

TEST_F(BuilderTest, TakesOutputsThatLieInOthers) {
  use({shell_step("mkdir -p all/bin; echo x > all/bin/bench-1; ln -s bench-1 all/bin/bench")});
  spec_.environments.front().outputs = {{"bench", "all/bin/bench"}, {"tree", "all"}};
  const auto built = build(scratch_.commit_file("code", "one"));
  ASSERT_TRUE(built.has_value()) << built.error().message;
  EXPECT_EQ(built->entry.reason, "");
  EXPECT_EQ(read_file(built->entry.output("bench")).value_or(""), "x\n");
  EXPECT_EQ(built->entry.files.size(), 2U);
}

TEST_F(BuilderTest, FindsProgramsEqualThatDifferInLinesAlone) {
  if (!find_program("c++") || !find_program("objcopy")) {
    GTEST_SKIP() << "no compiler";
  }
  use({shell_step("mkdir bin; c++ -g -O1 -o bin/bench {source}/main.cpp")});
  const auto digest_of = [&](const std::string& code) {
    return build(scratch_.commit_file("main.cpp", code))->entry.output_digest;
  };
  const auto first = digest_of("int main() { return 1; }");
  EXPECT_EQ(first, digest_of("// A comment moves the line.\nint main() { return 1; }"));
  EXPECT_NE(first, digest_of("int main() { return 2; }"));
}

TEST_F(BuilderTest, KeepsAFolderAndRefusesALinkOutOfIt) {
  const auto revision = scratch_.commit_file("code", "one");
  const std::string make =
      "mkdir -p bin/bench/lib; echo x > bin/bench/lib/a; cd bin/bench; "
      "ln -s lib/a b; ";
  use({shell_step(make)});
  const auto built = build(revision).value();
  EXPECT_EQ(built.entry.reason, "");
  EXPECT_EQ(read_file(built.entry.output("bench") / "b").value(), "x\n");
  use({shell_step(make + "ln -s {work}/elsewhere c")});
  EXPECT_THAT(build(revision)->entry.reason, HasSubstr("leads out of its output"));
  use({shell_step(make + "ln -s ../../../home c")});
  EXPECT_THAT(build(revision)->entry.reason, HasSubstr("leads out of its output"));
}

TEST_F(BuilderTest, OneBuildsWhatTwoWant) {
  use({shell_step(std::string(kCopy) + "; sleep 1")});
  const auto revision = scratch_.commit_file("code", "one");
  ASSERT_TRUE(make_mirror(spec_, scratch_.home() / "mirror")->update());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto built = build(revision);
    ::_exit(built && built->entry.outcome == BuildOutcome::kBuilt ? 0 : 1);
  }
  const auto built = build(revision);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(built.has_value()) << built.error().message;
  EXPECT_EQ(read_file(built->entry.output("bench")).value(), "one");
  EXPECT_EQ(builds_made(), 1);
}

TEST_F(BuilderTest, IsBuiltAgainAfterAKillInTheMiddle) {
  use({shell_step("echo $$ > {work}/../pid; sleep 1000")});
  const auto revision = scratch_.commit_file("code", "one");
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<void>(build(revision));
    ::_exit(0);
  }
  while (!stdfs::exists(place() / "pid")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  use({shell_step(kCopy)});
  const auto built = build(revision);  // Waits for the lock that the processes of the other hold.
  ASSERT_TRUE(built.has_value()) << built.error().message;
  EXPECT_EQ(built->entry.outcome, BuildOutcome::kBuilt) << built->entry.reason;
  EXPECT_EQ(builds_made(), 1);
}

TEST_F(BuilderTest, StandsStillWhileATimingOwnsTheDevice) {
  // It writes a line every 10 ms until it finds the file that the timing leaves.
  use(
      {shell_step("mkdir bin; until test -e {work}/../done; do echo x; sleep 0.01; done; "
                  "echo > bin/bench")});
  const auto revision = scratch_.commit_file("code", "one");
  const pid_t child = ::fork();
  if (child == 0) {
    const auto built = build(revision);
    ::_exit(built && built->entry.outcome == BuildOutcome::kBuilt ? 0 : 1);
  }
  const auto staging = builds_folder(scratch_.home()) / "staging";
  const auto bytes = [&staging] { return bytes_below(staging); };
  while (bytes() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  {
    const auto owned = DeviceLock::acquire(
        "local",
        {.keep_waiting = [](const std::string&) { return true; }, .folder = scratch_.locks()});
    ASSERT_TRUE(owned);
    const auto before = bytes();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(bytes(), before) << "the build went on beside the timing";
    ASSERT_TRUE(write_file_atomically(place() / "done", ""));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the build did not go on after the timing";
}

TEST_F(BuilderTest, KnowsOutputsThatAreTheSame) {
  const auto first = scratch_.commit_file("code", "one");
  const auto commented = scratch_.commit_file("other", "comment");
  const auto parent = build(first).value();
  const auto child = build(commented).value();
  EXPECT_NE(parent.entry.key, child.entry.key);
  const auto& environment = spec_.environments.front();
  const auto before = record_of_build(spec_, environment, first, parent.entry, nullptr);
  const auto after = record_of_build(spec_, environment, commented, child.entry, &before);
  EXPECT_EQ(before.same_as, "");
  EXPECT_EQ(after.same_as, first);
  EXPECT_EQ(record_of_build(spec_, environment, "third", child.entry, &after).same_as, first)
      << "the first of all that are equal";
  EXPECT_EQ(after.reference(), "toy@" + commented.substr(0, 12));
}

}  // namespace
}  // namespace assay
