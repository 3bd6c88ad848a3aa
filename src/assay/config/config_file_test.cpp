#include "assay/config/config_file.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <string>

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class ConfigFile : public testing::Test {
 protected:
  std::string error_of(const std::string& text, ConfigScope scope = ConfigScope::kUser) const {
    EXPECT_TRUE(write_file_atomically(file_, text));
    const auto read = read_config_file(file_, scope);
    return read ? "" : read.error().message;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-config").value();
  stdfs::path file_ = folder_.path() / "below" / "config.json";
};

TEST_F(ConfigFile, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(read_config_file(file_, ConfigScope::kUser).value(), empty_config());
  ASSERT_TRUE(write_file_atomically(folder_.path() / "below", "a file in place of the folder"));
  EXPECT_EQ(read_config_file(file_, ConfigScope::kUser).value(), empty_config());
}

TEST(UserConfigFile, IsNeverBelowTheCurrentFolder) {
  const std::string user = std::getenv("HOME");
  ::setenv("XDG_CONFIG_HOME", "/config", 1);
  EXPECT_EQ(user_config_file(), "/config/assay/config.json");
  ::setenv("XDG_CONFIG_HOME", "config", 1);
  EXPECT_EQ(user_config_file(), user + "/.config/assay/config.json");
  ::unsetenv("HOME");
  EXPECT_EQ(user_config_file(), "");
  EXPECT_FALSE(write_config_file(user_config_file(), empty_config()));
  ::setenv("HOME", user.c_str(), 1);
  ::unsetenv("XDG_CONFIG_HOME");
}

TEST_F(ConfigFile, IsWrittenForItsOwnerAlone) {
  const Json document = {{"schema", "assay/config/1"}, {"threads", 2}};
  ASSERT_TRUE(write_file_atomically(file_, "{}"));  // Readable by all, as an editor leaves it.
  ASSERT_TRUE(write_config_file(file_, document));
  struct stat info{};
  ASSERT_EQ(::stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(read_config_file(file_, ConfigScope::kUser).value(), document);
}

TEST_F(ConfigFile, OfALinkIsWrittenWhereTheLinkPoints) {
  const auto kept = folder_.path() / "kept.json";
  ASSERT_TRUE(write_file_atomically(kept, "{}"));
  stdfs::create_directories(file_.parent_path());
  stdfs::create_symlink(kept, file_);
  ASSERT_TRUE(write_config_file(file_, empty_config()));
  EXPECT_TRUE(stdfs::is_symlink(file_));
  EXPECT_EQ(read_config_file(kept, ConfigScope::kUser).value(), empty_config());
}

TEST_F(ConfigFile, TellsEveryProblemAndHowToGoOn) {
  EXPECT_THAT(error_of(R"({"schema": "assay/config/1", "thread": 2, "launches": "3"})"),
              AllOf(HasSubstr("unknown key 'thread'; did you mean 'threads'?\n"),
                    HasSubstr("launches: \"3\" must be an integer from 1 to 1000"),
                    HasSubstr("`assay init --reset`")));
  EXPECT_THAT(error_of("{\n \"schema\": \"assay/config/1\",\n \"threads\": }"),
              AllOf(HasSubstr("line 3"), HasSubstr("`assay init --reset`")));
  EXPECT_THAT(error_of("[]"), HasSubstr(R"(begins with "schema": "assay/config/1")"));
}

TEST_F(ConfigFile, OfAnotherVersionIsUnsupported) {
  ASSERT_TRUE(write_file_atomically(file_, R"({"schema": "assay/config/2"})"));
  const auto read = read_config_file(file_, ConfigScope::kUser);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kUnsupported);
}

TEST_F(ConfigFile, OfAProjectChoosesNoProgramsAndNoFolders) {
  for (const auto* key : {"home", "store", "python", "cache_limit", "mirrors"}) {
    EXPECT_THAT(
        error_of(Json{{"schema", "assay/config/1"}, {key, "/x"}}.dump(), ConfigScope::kProject),
        HasSubstr("is for the user's configuration"))
        << key;
  }
  EXPECT_EQ(error_of("{// Comments stay.\n\"schema\": \"assay/config/1\", \"threads\": 1}",
                     ConfigScope::kProject),
            "");
}

TEST_F(ConfigFile, OfAProjectIsTheNearestAboveTheFolder) {
  const auto deep = folder_.path() / "a" / "b";
  const auto text = R"({"schema": "assay/config/1"})";
  ASSERT_TRUE(write_file_atomically(folder_.path() / kProjectConfigName, text));
  ASSERT_TRUE(write_file_atomically(deep / "file", ""));
  EXPECT_EQ(find_project_config(deep).value(), folder_.path() / kProjectConfigName);
  ASSERT_TRUE(write_file_atomically(deep / kProjectConfigName, R"({"schema": "assay/spec/1"})"));
  EXPECT_EQ(find_project_config(deep).value(), folder_.path() / kProjectConfigName)
      << "a spec of that name is none";
  ASSERT_TRUE(write_file_atomically(deep / kProjectConfigName, text));
  EXPECT_EQ(find_project_config(deep).value(), deep / kProjectConfigName);
  ASSERT_TRUE(write_file_atomically(deep / kProjectConfigName, R"({"schema": "assay/config/1")"));
  EXPECT_FALSE(find_project_config(deep)) << "a brace is missing";
}

TEST_F(ConfigFile, OfAnotherToolIsPassedOver) {
  const auto deep = folder_.path() / "a";
  const auto text = R"({"schema": "assay/config/1"})";
  ASSERT_TRUE(write_file_atomically(folder_.path() / kProjectConfigName, text));
  for (const auto& foreign :
       {std::string("{ broken"), std::string("a = 1"), std::string(65 << 20, 'x')}) {
    ASSERT_TRUE(write_file_atomically(deep / kProjectConfigName, foreign));
    EXPECT_EQ(find_project_config(deep).value(), folder_.path() / kProjectConfigName);
  }
  stdfs::remove(deep / kProjectConfigName);
  stdfs::create_directory(deep / kProjectConfigName);
  EXPECT_EQ(find_project_config(deep).value(), folder_.path() / kProjectConfigName);
}

TEST_F(ConfigFile, OfAStrangerIsPassedOver) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root may give a file away";
  }
  constexpr uid_t kStranger = 12345;
  const auto deep = folder_.path() / "a";
  const auto file = folder_.path() / kProjectConfigName;
  ASSERT_TRUE(write_file_atomically(file, R"({"schema": "assay/config/1"})"));
  ASSERT_TRUE(write_file_atomically(deep / "file", ""));
  ASSERT_EQ(::chown(file.c_str(), kStranger, kStranger), 0);
  EXPECT_EQ(find_project_config(deep).value(), "");
  ASSERT_EQ(::chown(deep.c_str(), kStranger, kStranger), 0);
  EXPECT_EQ(find_project_config(deep).value(), file) << "the owner of the project is no stranger";
}

TEST_F(ConfigFile, MovedAsideReplacesNothing) {
  EXPECT_EQ(move_config_aside(file_).value(), "");
  for (const auto* ending : {"config.json.old", "config.json.old2", "config.json.old3"}) {
    ASSERT_TRUE(write_config_file(file_, empty_config()));
    EXPECT_THAT(move_config_aside(file_).value().string(), EndsWith(ending));
    EXPECT_FALSE(stdfs::exists(file_));
  }
}

}  // namespace
}  // namespace assay
