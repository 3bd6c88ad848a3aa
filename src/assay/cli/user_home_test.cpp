#include "assay/cli/user_home.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <stdlib.h>
#include <string>
#include <utility>

#include "assay/base/fs.h"

namespace assay::cli {
namespace {

/// Variables that say where Assay's folder is; they are put back.
class HomeOfAssay : public testing::Test {
 protected:
  void SetUp() override {
    for (auto& [name, value] : kept_) {
      const char* const text = std::getenv(name);
      value = text == nullptr ? std::optional<std::string>() : text;
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : kept_) {
      value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
    }
  }

 private:
  std::array<std::pair<const char*, std::optional<std::string>>, 3> kept_ = {
      {{"HOME", {}}, {"ASSAY_HOME", {}}, {"XDG_DATA_HOME", {}}}};
};

TEST_F(HomeOfAssay, IsNeverBelowTheCurrentFolderByChance) {
  ::setenv("ASSAY_HOME", "/for/users/without/a/home", 1);
  ASSERT_TRUE(settle_home());
  ::unsetenv("ASSAY_HOME");
  if (std::getenv("HOME") == nullptr) {
    GTEST_SKIP() << "this user has no home folder";
  }
  EXPECT_TRUE(assay_home().is_absolute());
  const auto usual = assay_home();
  ::setenv("XDG_DATA_HOME", "data", 1);
  EXPECT_EQ(assay_home(), usual) << "a relative one is to be ignored";
  ::setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(assay_home(), "/data/assay");
}

TEST_F(HomeOfAssay, StaysTheSameInOtherFolders) {
  ::setenv("ASSAY_HOME", "here", 1);
  ASSERT_TRUE(settle_home());
  EXPECT_EQ(std::getenv("ASSAY_HOME"), (std::filesystem::current_path() / "here").string());
}

}  // namespace
}  // namespace assay::cli
