#include "assay/engines/command/awaited_files.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ios>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay::command {
namespace {

namespace stdfs = std::filesystem;

using testing::HasSubstr;

class AwaitedFilesTest : public testing::Test {
 protected:
  AwaitedFilesTest() { EXPECT_TRUE(write_file_atomically(file_, "p99 7.5 ms\n")); }

  [[nodiscard]] AwaitedFiles awaited() const { return AwaitedFiles({file_.string()}); }

  TemporaryFolder folder_ = TemporaryFolder::make("awaited").value();
  stdfs::path file_ = folder_.path() / "result.txt";
};

TEST_F(AwaitedFilesTest, RefuseAFileOfAnEarlierRun) {
  const auto files = awaited();
  const auto read = files.read_written();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kEngine);
  EXPECT_THAT(read.error().message, HasSubstr("did not write '" + file_.string()));
}

TEST_F(AwaitedFilesTest, SeeTheSameContentWrittenAgainInTheSameTickOfTheClock) {
  const auto time = stdfs::last_write_time(file_);
  const auto files = awaited();
  stdfs::last_write_time(file_, time);  // As a write does that comes before the clock's next step.
  EXPECT_EQ(files.read_written().value(), "\np99 7.5 ms\n");
}

TEST_F(AwaitedFilesTest, ReadWhatIsNewInAFileThatIsAppendedTo) {
  const auto files = awaited();
  std::ofstream(file_, std::ios::app) << "cannot open device\n";
  EXPECT_EQ(files.read_written().value(), "\ncannot open device\n");
}

TEST_F(AwaitedFilesTest, ReadTheWholeOfAFileThatIsWrittenAnew) {
  auto files = awaited();
  ASSERT_TRUE(write_file_atomically(file_, "p99 7.5 ms\nand more\n"));
  EXPECT_EQ(files.read_written().value(), "\np99 7.5 ms\nand more\n") << "another file";
  stdfs::remove(file_);
  EXPECT_FALSE(files.read_written()) << "it is gone";
  files = awaited();
  ASSERT_TRUE(write_file_atomically(file_, "first\n"));
  EXPECT_EQ(files.read_written().value(), "\nfirst\n");
}

}  // namespace
}  // namespace assay::command
