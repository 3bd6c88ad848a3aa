#include "features/repository/wheel_index.h"

#include "features/repository/repository_spec.h"
#include "features/repository/wheel_spec.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/record/repository.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// An interpreter whose pip prints this and ends with `code`.
class WheelIndexTest : public testing::Test {
 protected:
  WheelIndex index_that_prints(std::string_view text, int code = 0) {
    const auto python = folder_.path() / "python";
    const auto script = "#!/bin/sh\nprintf '" + std::string(text) + "'\necho \"no such $5\" >&2\n" +
                        "exit " + std::to_string(code) + "\n";
    EXPECT_TRUE(write_file_atomically(python, script));
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    use_python(python, spec_);
    return WheelIndex(spec_);
  }
  static std::vector<std::string> names_of(const std::vector<Revision>& revisions) {
    std::vector<std::string> names;
    std::ranges::transform(revisions, std::back_inserter(names), &Revision::hash);
    return names;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("wheel-index").value();
  RepositorySpec spec_ =
      repository_spec_of({.package = "onnxruntime", .first = "1.9", .last = "1.11"}).value();
};

TEST_F(WheelIndexTest, OrdersVersionsAsPipDoes) {
  auto index = index_that_prints("onnxruntime (1.11)\\nAvailable versions: 1.11, 1.10, 1.9\\n");
  EXPECT_EQ(index.update()->tip, "1.11");
  EXPECT_EQ(index.resolve("HEAD~2").value(), "1.9");
  const auto range = index.log({.tip = "1.11", .since = "1.9"}).value();
  EXPECT_THAT(names_of(range), ElementsAre("1.11", "1.10"));
  EXPECT_EQ(range[1].position, 2);
  EXPECT_THAT(range[0].parents, ElementsAre("1.10"));
  EXPECT_THAT(names_of(index.log({.tip = "1.10", .since = "", .limit = 1}).value()),
              ElementsAre("1.10"));
  const auto unknown = index.resolve("1.12");
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("no version of onnxruntime '1.12'"));
}

TEST_F(WheelIndexTest, SourcesAreTheRequirement) {
  auto index = index_that_prints("Available versions: 1.10, 1.9\\n");
  ASSERT_TRUE(index.update());
  const auto source = folder_.path() / "source";
  ASSERT_TRUE(index.check_out("1.9", source));
  EXPECT_EQ(read_file(source / kRequirements).value(), "onnxruntime==1.9\n");
  EXPECT_NE(index.content_digest("1.9", {}).value(), index.content_digest("1.10", {}).value());
}

TEST_F(WheelIndexTest, RepeatsTheWordsOfPip) {
  const auto update = index_that_prints("", 1).update();
  EXPECT_EQ(update.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(update.error().message, HasSubstr("no such versions"));
}

TEST(WheelSpec, ReadsVersionsInPlaceOfAFile) {
  const auto range = version_range_from_text("ai-edge-litert==1.4.0..2.0.0").value().value();
  EXPECT_EQ(range.first, "1.4.0");
  EXPECT_EQ(range.last, "2.0.0");
  EXPECT_EQ(repository_spec_of(range)->repository.engine, "litert");
  EXPECT_FALSE(version_range_from_text("toy.json").value());
  for (const char* text : {"a==1", "a==1..", "a==..2", "==1..2", "-r==1..2"}) {
    EXPECT_EQ(version_range_from_text(text).error().code, ErrorCode::kInvalidArgument) << text;
  }
}

TEST(WheelSpec, IncludesPrereleasesWhereAnEndIsOne) {
  EXPECT_EQ(repository_spec_of({"onnxruntime", "1.9", "1.10"})->branch, "");
  EXPECT_EQ(repository_spec_of({"onnxruntime", "1.9", "1.10rc1"})->branch, kPrereleases);
}

TEST(WheelSpec, KnowsThePackagesOfEngines) {
  const auto unknown = repository_spec_of({"numpy", "1", "2"});
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("onnxruntime"));
}

TEST(WheelSpec, FileNeedsNoEnvironment) {
  const auto spec = repository_spec_from_text(
      R"({"schema": "assay/repository/1", "repository": {"kind": "wheel", "url": "toy"},
          "engine": "toy", "environments": {"own": {"engine_class": "toy.py:Toy"}}})",
      "toy.json", "/lab");
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->repository.url, "toy");
  EXPECT_EQ(spec->environments.front().build, wheel_environment().build);
  EXPECT_EQ(spec->environments.front().engine_class, "/lab/toy.py:Toy");
}

}  // namespace
}  // namespace assay
