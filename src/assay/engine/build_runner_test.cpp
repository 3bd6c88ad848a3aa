#include "assay/engine/build_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/fs.h"

namespace assay {
namespace {

using testing::HasSubstr;

TEST(BuildRunner, SaysWhereItLookedForTheEngine) {
  const auto home = TemporaryFolder::make("assay-test").value();
  const auto built = build_runner(
      {.name = "executorch", .label = "mine", .prefix = home.path(), .home = home.path()});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(built.error().message, HasSubstr("lib/cmake/ExecuTorch"));
}

TEST(BuildRunner, RefusesAnEngineWithoutRunnerSource) {
  EXPECT_EQ(build_runner({.name = "litert", .label = "mine"}).error().code,
            ErrorCode::kUnsupported);
}

TEST(BuildRunner, NamesTheLogWhenTheRunnerDoesNotBuild) {
  const auto home = TemporaryFolder::make("assay-test").value();
  ASSERT_TRUE(write_file_atomically(home.path() / "executorch-config.cmake", ""));
  const auto built = build_runner({.name = "executorch",
                                   .label = "mine",
                                   .prefix = home.path(),
                                   .cmake = "/bin/false",
                                   .source = home.path(),
                                   .home = home.path()});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(built.error().message, HasSubstr("build.log"));
}

TEST(SourceFolder, IsWhatThisBuildCameFrom) {
  EXPECT_TRUE(std::filesystem::exists(find_source_folder().value() / "src" / "assay" / "engine"));
}

}  // namespace
}  // namespace assay
