#include "features/repository/repository_skeleton.h"

#include "features/repository/repository_spec.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <string_view>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// A checkout with a build file, as the folder "toy net".
class SkeletonOfAFolder : public testing::Test {
 protected:
  RepositorySpec spec_with(const char* name, const std::string& text) const {
    EXPECT_TRUE(write_file_atomically(checkout_ / name, text));
    const auto skeleton = make_repository_skeleton((checkout_ / "src").string());
    EXPECT_TRUE(skeleton) << skeleton.error().message;
    return repository_spec_from_text(skeleton->text, "skeleton", "/").value();
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-skeleton").value();
  std::filesystem::path checkout_ = folder_.path() / "toy net";

  void SetUp() override {
    std::filesystem::create_directories(checkout_ / ".git");
    std::filesystem::create_directories(checkout_ / "src");
  }
};

TEST_F(SkeletonOfAFolder, NamesTheCheckoutThatTheFolderIsPartOf) {
  const auto spec = spec_with("README", "");
  EXPECT_EQ(spec.repository.url, std::filesystem::canonical(checkout_));
  EXPECT_EQ(spec.repository.engine, "toy-net");
}

TEST_F(SkeletonOfAFolder, BuildsTheFirstProgramOfCmake) {
  const auto spec = spec_with("CMakeLists.txt",
                              "project(toy)\n# add_executable(old)\nadd_library(core core.c)\n"
                              "add_executable( toy-bench main.c)\nadd_executable(other o.c)\n");
  EXPECT_THAT(spec.environments.front().outputs, ElementsAre(Pair("toy-bench", "bin/toy-bench")));
  EXPECT_EQ(spec.environments.front().build.front().front(), "cmake");
}

TEST_F(SkeletonOfAFolder, LeavesAProgramThatAVariableNamesToTheUser) {
  const auto spec =
      spec_with("CMakeLists.txt", "add_executable(${NAME} a.c)\nADD_EXECUTABLE(\n  toy a.c)\n");
  EXPECT_THAT(spec.environments.front().outputs, ElementsAre(Pair("toy", "bin/toy")));
  EXPECT_THAT(
      spec_with("CMakeLists.txt", "add_executable(${NAME} a.c)").environments.front().outputs,
      ElementsAre(Pair("bench", "bin/bench")));
}

TEST_F(SkeletonOfAFolder, BuildsWhatAllOfAMakefileNeedsFirst) {
  const auto spec = spec_with("Makefile", "CFLAGS := -O2\n.PHONY: all\nall: out/bench test\n");
  EXPECT_THAT(spec.environments.front().outputs, ElementsAre(Pair("bench", "bench")));
  EXPECT_THAT(spec.environments.front().build.back(),
              ElementsAre("cp", "{source}/out/bench", "{work}/bench"));
}

TEST_F(SkeletonOfAFolder, CopiesTheOnlyScript) {
  ASSERT_TRUE(write_file_atomically(checkout_ / "bench.sh", "#!/bin/sh\n"));
  std::filesystem::permissions(checkout_ / "bench.sh", std::filesystem::perms::owner_all);
  const auto spec = spec_with("README", "");
  EXPECT_THAT(spec.environments.front().outputs, ElementsAre(Pair("bench", "bench.sh")));
  EXPECT_THAT(spec.environments.front().build,
              ElementsAre(ElementsAre("cp", "{source}/bench.sh", "{work}/bench.sh")));
}

/// The text with the keys that it comments out, all of them or only the one of this number.
std::string uncommented(const std::string& text, int wanted = -1) {
  constexpr std::string_view kComment = "  // \"";
  std::string result;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kComment) && (wanted < 0 || number++ == wanted)) {
      line.erase(2, 3);
    }
    result += line + "\n";
  }
  return result;
}

TEST_F(SkeletonOfAFolder, ReadsEachKeyWithoutTheSlashesInFrontOfIt) {
  const auto text = make_repository_skeleton(checkout_.string()).value().text;
  for (const int number : {0, 1, 2}) {
    const auto one = uncommented(text, number);
    EXPECT_NE(one, text);
    const auto spec = repository_spec_from_text(one, "skeleton", "/");
    EXPECT_TRUE(spec) << spec.error().message << one;
  }
  const auto spec = repository_spec_from_text(uncommented(text), "skeleton", "/");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->spec, "/spec.json");
  EXPECT_THAT(spec->policy.min_effect_ratio, ElementsAre(Pair("steady_floor_ns", 0.02)));
}

TEST(RepositorySkeleton, OfAnAddressHasABuildToCorrect) {
  const auto skeleton = make_repository_skeleton("https://example.org/nets/toy.git").value();
  EXPECT_EQ(skeleton.engine, "toy");
  EXPECT_THAT(skeleton.how_built, HasSubstr("correct \"build\""));
  EXPECT_THAT(skeleton.text, HasSubstr("\"https://example.org/nets/toy.git\""));
}

TEST(RepositorySkeleton, RefusesAFolderThatIsNoCheckout) {
  const auto folder = TemporaryFolder::make("assay-skeleton").value();
  const auto skeleton = make_repository_skeleton(folder.path().string());
  ASSERT_FALSE(skeleton);
  EXPECT_THAT(skeleton.error().message, HasSubstr("no checkout of git or Mercurial"));
  EXPECT_EQ(make_repository_skeleton("/absent/folder").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace assay
