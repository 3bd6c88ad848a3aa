#include "assay/config/configuration.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/config/config_file.h"

namespace assay {
namespace {

/// A user's file, a project's file and variables.
class ConfigurationOfSources : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(project_); }

  static void write(const std::filesystem::path& file, Json document) {
    document["schema"] = "assay/config/1";
    ASSERT_TRUE(write_file_atomically(file, document.dump()));
  }

  [[nodiscard]] Configuration load() const {
    auto read = load_configuration(
        {.user_file = user_file_, .folder = project_, .variable = [this](std::string_view name) {
           const auto found = variables_.find(std::string(name));
           return found == variables_.end() ? "" : found->second;
         }});
    EXPECT_TRUE(read) << read.error().message;
    return *std::move(read);
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-config").value();
  std::filesystem::path user_file_ = folder_.path() / "config.json";
  std::filesystem::path project_ = folder_.path() / "project";
  std::map<std::string, std::string> variables_;
};

TEST_F(ConfigurationOfSources, HasNoValuesWithoutSources) {
  const auto read = load();
  EXPECT_EQ(read.find("threads"), nullptr);
  EXPECT_EQ(read.text("home"), "");
}

TEST_F(ConfigurationOfSources, PutsTheProjectOverTheUser) {
  write(user_file_, {{"threads", 2}, {"launches", 5}});
  EXPECT_EQ(load().text("threads"), "2");
  const auto file = project_ / kProjectConfigName;
  write(file, {{"threads", 8}});
  const auto read = load();
  EXPECT_EQ(read.text("threads"), "8");
  EXPECT_EQ(read.find("threads")->origin, ConfigOrigin::kProject);
  EXPECT_EQ(read.find("threads")->place, file.string());
  EXPECT_EQ(read.text("launches"), "5") << "the project says nothing of it";
  EXPECT_EQ(read.find("launches")->origin, ConfigOrigin::kUser);
}

TEST_F(ConfigurationOfSources, PutsTheEnvironmentOverFiles) {
  write(user_file_, {{"home", "/from/file"}, {"colour", "auto"}, {"store", "/from/file.db"}});
  variables_ = {{"ASSAY_HOME", "/from/variable"}, {"NO_COLOR", "1"}};
  const auto read = load();
  EXPECT_EQ(read.text("home"), "/from/variable");
  EXPECT_EQ(read.find("home")->place, "$ASSAY_HOME");
  EXPECT_EQ(read.text("colour"), "never") << "its variable stands for one value";
  EXPECT_EQ(read.text("store"), "/from/file.db");
}

TEST_F(ConfigurationOfSources, IsExportedWhereAVariableIsNotSet) {
  ::setenv("ASSAY_PYTHON", "/from/variable", 1);
  ::unsetenv("ASSAY_CACHE_LIMIT");
  write(user_file_, {{"python", "/from/file"}, {"cache_limit", "5MB"}, {"colour", "never"}});
  export_configuration(load());
  EXPECT_STREQ(std::getenv("ASSAY_PYTHON"), "/from/variable");
  EXPECT_STREQ(std::getenv("ASSAY_CACHE_LIMIT"), "5MB");
  EXPECT_EQ(std::getenv("NO_COLOR"), nullptr) << "programs that are measured would get it";
  ::setenv("ASSAY_CACHE_LIMIT", "", 1);
  export_configuration(load());
  EXPECT_STREQ(std::getenv("ASSAY_CACHE_LIMIT"), "5MB") << "an empty variable is none";
  ::unsetenv("ASSAY_PYTHON");
  ::unsetenv("ASSAY_CACHE_LIMIT");
}

}  // namespace
}  // namespace assay
