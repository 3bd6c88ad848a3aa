#include "assay/engine/installed_builds.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

using testing::HasSubstr;

std::filesystem::path write_script(const std::filesystem::path& path, const std::string& body) {
  std::ofstream(path) << "#!/bin/sh\n" << body;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(InstalledBuilds, FindARegisteredBuildByItsReference) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto runner =
      write_script(home.path() / "runner",
                   R"(echo '{"name": "executorch", "version": "1.6.0", "build_id": "b1"}')");
  ASSERT_TRUE(register_build(home.path(),
                             {.name = "executorch", .label = "mine", .runner = runner.string()}));
  const auto installed = find_installed_builds(home.path());
  const auto build = get_build(installed, "executorch@mine").value();
  EXPECT_EQ(build.build_id, "b1");
  EXPECT_EQ(build.details.at("version"), "1.6.0");
}

TEST(InstalledBuilds, AreAllKeptWhereManyAreAddedAtOnce) {
  const auto home = TemporaryFolder::make("assay-test").value();
  constexpr int kProcesses = 8;
  {
    std::vector<std::jthread> adding;
    for (int i = 0; i < kProcesses; ++i) {
      adding.emplace_back([&home, i] {
        for (int again = 0; again < 5; ++again) {
          EXPECT_TRUE(register_build(
              home.path(),
              {.name = "fake", .label = fmt::format("r{}.{}", i, again), .runner = "/bin/true"}));
        }
      });
    }
  }
  EXPECT_EQ(registered_builds(home.path()).size(), 5U * kProcesses);
}

TEST(InstalledBuilds, KeepABrokenRunnerListedWithItsReason) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto runner = write_script(home.path() / "runner", "exit 127\n");
  ASSERT_TRUE(register_build(home.path(),
                             {.name = "executorch", .label = "broken", .runner = runner.string()}));
  const auto build = get_build(find_installed_builds(home.path()), "executorch@broken");
  ASSERT_FALSE(build);
  EXPECT_EQ(build.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(build.error().message, HasSubstr("exit code 127"));
}

TEST(InstalledBuilds, TellHowToInstallTheLibrariesThatARunnerLacks) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto runner = write_script(home.path() / "runner",
                                   "echo 'runner: error while loading shared libraries: "
                                   "libexecutorch.so: cannot open' >&2; exit 127\n");
  ASSERT_TRUE(register_build(home.path(),
                             {.name = "executorch", .label = "bare", .runner = runner.string()}));
  const auto build = get_build(find_installed_builds(home.path()), "executorch@bare");
  ASSERT_FALSE(build);
  EXPECT_THAT(build.error().message, HasSubstr("pip install 'assay[executorch]'"));
  EXPECT_THAT(build.error().message, HasSubstr("libexecutorch.so")) << "which one it was";
}

TEST(InstalledBuilds, TellHowToInstallTheModulesThatARunnerInPythonLacks) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto runner =
      write_script(home.path() / "runner",
                   "echo \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1\n");
  ASSERT_TRUE(register_build(home.path(),
                             {.name = "onnxruntime", .label = "bare", .runner = runner.string()}));
  const auto build = get_build(find_installed_builds(home.path()), "onnxruntime@bare");
  ASSERT_FALSE(build);
  EXPECT_THAT(build.error().message, HasSubstr("pip install 'assay[onnxruntime]'"));
  EXPECT_THAT(build.error().message, HasSubstr("numpy"));
}

TEST(InstalledBuilds, TellOfADamagedRegistryAndLeaveItAlone) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto file = engines_folder(home.path()) / "engines.json";
  const EngineBuild build{.name = "executorch", .label = "mine", .runner = "/runner"};
  ASSERT_TRUE(write_file_atomically(file, R"({"schema": "assay/engines/1", "builds": [{"na)"));
  const auto found = get_build(find_installed_builds(home.path()), "executorch@mine");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr(file.string() + "' is damaged"));
  EXPECT_THAT(found.error().message, HasSubstr("assay engine add"));
  EXPECT_EQ(register_build(home.path(), build).error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(read_file(file).value(), HasSubstr("\"builds\": [{\"na"));
}

TEST(InstalledBuilds, NameTheEntryOfTheRegistryThatIsLost) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto runner =
      write_script(home.path() / "runner", R"(echo '{"name": "executorch", "version": "1"}')");
  const Json builds = {{{"name", "executorch"}, {"label", "lost"}, {"runner", 7}},
                       {{"name", "executorch"}, {"label", "kept"}, {"runner", runner.string()}}};
  ASSERT_TRUE(write_file_atomically(engines_folder(home.path()) / "engines.json",
                                    Json{{"builds", builds}}.dump()));
  const auto installed = find_installed_builds(home.path());
  EXPECT_TRUE(get_build(installed, "executorch@kept"));
  const auto lost = get_build(installed, "executorch@lost");
  EXPECT_EQ(lost.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(lost.error().message, HasSubstr("engines.json' is damaged"));
  const std::vector<std::string> kept = {"executorch@kept"};
  EXPECT_TRUE(check_search(installed, kept));
  const std::vector<std::string> all = {"executorch@kept", "executorch@lost"};
  EXPECT_EQ(check_search(installed, all).error().code, ErrorCode::kCorrupt);
}

TEST(InstalledBuilds, BlameTheLimitThatEndedTheSearch) {
  InstalledBuilds installed{.builds = {{.name = "fake", .label = "1"}}};
  installed.fault = Error{.code = ErrorCode::kExhausted, .message = "Too many open files"};
  const std::vector<std::string> found = {"fake"};
  EXPECT_EQ(check_search(installed, found).error().message, "Too many open files");
}

TEST(InstalledBuilds, BlameTheSignalThatEndedARunner) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto dying = write_script(home.path() / "dying", "echo no memory >&2\nkill -KILL $$\n");
  const auto sound =
      write_script(home.path() / "sound", R"(echo '{"name": "executorch", "version": "1"}')");
  ASSERT_TRUE(register_build(home.path(),
                             {.name = "executorch", .label = "sound", .runner = sound.string()}));
  ASSERT_TRUE(
      register_build(home.path(), {.name = "mine", .label = "dying", .runner = dying.string()}));
  const auto installed = find_installed_builds(home.path());
  const std::vector<std::string> lost = {"executorch@sound", "mine@dying"};
  const auto searched = check_search(installed, lost);
  ASSERT_FALSE(searched);
  EXPECT_EQ(searched.error().code, ErrorCode::kCrashed);
  EXPECT_THAT(searched.error().message, HasSubstr("died of signal 9 (Killed)"));
  EXPECT_THAT(searched.error().message, HasSubstr("having said: no memory"));
  EXPECT_THAT(searched.error().message, HasSubstr(dying.string() + " --describe"));
  EXPECT_FALSE(check_search(installed, {})) << "every engine is wanted";
  const std::vector<std::string> found = {"executorch@sound"};
  EXPECT_TRUE(check_search(installed, found)) << "another engine is not needed";
}

TEST(InstalledBuilds, ReplaceABuildOfTheSameReference) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto runner =
      write_script(home.path() / "runner", R"(echo '{"name": "executorch", "version": "1"}')");
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(register_build(home.path(),
                               {.name = "executorch", .label = "mine", .runner = runner.string()}));
  }
  EXPECT_EQ(
      std::ranges::count(find_installed_builds(home.path()).builds, "mine", &EngineBuild::label),
      1);
}

TEST(InstalledBuilds, RegisterARunnerUnderItsOwnName) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto runner =
      write_script(home.path() / "runner", R"(echo '{"name": "executorch", "version": "1"}')");
  EXPECT_EQ(register_runner(home.path(), runner, "executorch", "mine").value().reference(),
            "executorch@mine");
  EXPECT_TRUE(get_build(find_installed_builds(home.path()), "executorch@mine"));
  const auto other = register_runner(home.path(), runner, "openvino", "mine");
  EXPECT_EQ(other.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(other.error().message, HasSubstr("write executorch@mine"));
}

TEST(InstalledBuilds, AreStruckOffByTheirReference) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto runner =
      write_script(home.path() / "runner", R"(echo '{"name": "executorch", "version": "1"}')");
  for (const char* label : {"a", "b"}) {
    ASSERT_TRUE(register_runner(home.path(), runner, "executorch", label));
  }
  EXPECT_EQ(unregister_build(home.path(), "executorch@a")->runner, runner.string());
  const auto left = registered_builds(home.path());
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front().reference(), "executorch@b");
  const auto again = unregister_build(home.path(), "executorch@a");
  EXPECT_EQ(again.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(again.error().message, HasSubstr("did you mean 'executorch@b'?"));
}

TEST(InstalledBuilds, TellHowToGetAnEngineThatIsNotThere) {
  const auto home = TemporaryFolder::make("assay-test").value();
  InstalledBuilds none;
  none.missing = {{"executorch", "pip install executorch"}};
  EXPECT_THAT(get_build(none, "executorch").error().message, HasSubstr("pip install"));
  EXPECT_EQ(get_build(none, "executorsh").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace assay
