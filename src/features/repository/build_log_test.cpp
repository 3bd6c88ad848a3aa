#include "features/repository/build_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/fs.h"

namespace assay {
namespace {

class BuildLog : public testing::Test {
 protected:
  std::string fault_in(const std::string& output) {
    const auto log = folder_.path() / "build.log";
    EXPECT_TRUE(write_file_atomically(log, output));
    return fault_in_log(log, "/home/build/source");
  }

  TemporaryFolder folder_ = TemporaryFolder::make("build-log").value();
};

TEST_F(BuildLog, SaysTheFirstErrorWithoutTheFolder) {
  EXPECT_EQ(fault_in("compiling\n/home/build/source/a.c:3:1: fatal Error: no 'b.h'\n"
                     "a.c:9: error: another\ncompilation terminated.\n"),
            "a.c:3:1: fatal Error: no 'b.h'");
}

TEST_F(BuildLog, SaysTheLastLineWhereNoneNamesAnError) {
  EXPECT_EQ(fault_in("one\ntwo\n \n\n"), "two");
  EXPECT_EQ(fault_in(""), "");
  EXPECT_EQ(fault_in_log(folder_.path() / "absent", "/"), "");
}

TEST_F(BuildLog, LooksAtTheEndOnly) {
  EXPECT_EQ(fault_in("error: long ago\n" + std::string(70'000, '\n') + "end\n"), "end");
}

TEST_F(BuildLog, IsOneShortPrintableLine) {
  const auto fault = fault_in("error: \x1b[31m" + std::string(1000, 'x'));
  EXPECT_LT(fault.size(), 200U);
  EXPECT_THAT(fault, testing::EndsWith("x…"));
  EXPECT_THAT(fault, testing::Not(testing::HasSubstr("\x1b")));
}

}  // namespace
}  // namespace assay
