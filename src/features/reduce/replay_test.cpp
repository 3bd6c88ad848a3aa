#include "features/reduce/replay.h"

#include "features/reduce/candidate.h"
#include "features/reduce/finding.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ios>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

using testing::HasSubstr;

ReduceCandidate candidate(const std::string& ref) { return {.model = {.ref = ref}}; }

class ReplayTest : public testing::Test {
 protected:
  void append(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-replay").value();
  std::filesystem::path path_ = folder_.path() / "replay.jsonl";
};

TEST_F(ReplayTest, KnowsAfterADeathWhatItWasTold) {
  ReduceFinding finding{.verdict = ConformVerdict::kLoadError,
                        .stage = Stage::kLoad,
                        .text = "no kernel \xff",
                        .time_ratio = 1.5};
  {
    auto replay = ReduceReplay::open(path_, "x").value();
    ASSERT_TRUE(replay.add(candidate("a"), finding));
  }
  append(R"({"candidate": "cut o)");  // By a death.
  auto replay = ReduceReplay::open(path_, "x").value();
  ASSERT_EQ(replay.size(), 1U);
  const auto found = replay.find(candidate("a")).value_or(ReduceFinding());
  EXPECT_EQ(found.verdict, ConformVerdict::kLoadError);
  EXPECT_EQ(found.stage, Stage::kLoad);
  EXPECT_EQ(found.time_ratio, 1.5);
  EXPECT_FALSE(replay.find(candidate("b")));
  // And what follows the line that was cut off is read again.
  ASSERT_TRUE(replay.add(candidate("b"), finding));
  EXPECT_TRUE(ReduceReplay::open(path_, "x")->find(candidate("b")));
}

TEST_F(ReplayTest, RefusesTheFileOfAnotherReduction) {
  ASSERT_TRUE(ReduceReplay::open(path_, "xnnpack"));
  const auto other = ReduceReplay::open(path_, "portable");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(other.error().message, HasSubstr("name another file"));
}

TEST_F(ReplayTest, RefusesWhatIsNoReplayFile) {
  append("{\"schema\": \"assay/spec/1\"}\n");
  EXPECT_EQ(ReduceReplay::open(path_, "x").error().code, ErrorCode::kInvalidArgument);
}

TEST_F(ReplayTest, LeavesAFileWithoutAnEndOfLineAlone) {
  for (const std::string text : {"notes without an end", "{\"schema\":\"other", "{"}) {
    ASSERT_TRUE(write_file_atomically(path_, text).has_value());
    const auto opened = ReduceReplay::open(path_, "x");
    if (text == "{") {  // As a death at the first letter leaves it.
      EXPECT_TRUE(opened.has_value());
      continue;
    }
    ASSERT_FALSE(opened.has_value()) << text;
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(read_file(path_).value(), text);
  }
}

TEST_F(ReplayTest, ADamagedLineIsToldAndNotSkipped) {
  ASSERT_TRUE(ReduceReplay::open(path_, "x"));
  append("{\"candidate\": 1}\n{}\n");
  const auto damaged = ReduceReplay::open(path_, "x");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(damaged.error().message, HasSubstr("line 2"));
}

TEST_F(ReplayTest, OfAFolderThatIsNotThereIsAnError) {
  EXPECT_EQ(ReduceReplay::open(folder_.path() / "no" / "file", "x").error().code,
            ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace assay
