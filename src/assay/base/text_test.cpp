#include "assay/base/text.h"

#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "assay/base/file_name.h"

namespace assay {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Text, TakesWhatSteersATerminalAway) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m\x07 alert\n\n next"), "red· alert next");
  EXPECT_EQ(printable_lines("a\x1b]0;title\x07\nb\tc\r\n"), "a·]0;title·\nb\tc\n");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "·31m");  // The one-byte form of "ESC [".
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a·b");  // Turns what follows around.
  EXPECT_EQ(printable_lines("cut \x1b["), "cut ");
  // A sequence that breaks off takes nothing of what follows.
  EXPECT_EQ(printable_lines("a\x1b[\n12 s\x1b[3µs"), "a\n12 sµs");
  EXPECT_EQ(printable("\xFF\xC3"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Text, ReplacesWrongUtf8AndKeepsTheRest) {
  EXPECT_EQ(valid_utf8("µ\n\x01"), "µ\n\x01");
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // An overlong "/".
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // A surrogate.
}

TEST(Text, CutsWhatIsTooLongBetweenCodePointsAndSaysSo) {
  EXPECT_EQ(capped_text("short"), "short");
  EXPECT_EQ(capped_text("aµb", 2), "a… [3 more bytes were cut off]");
  const auto capped = capped_text(std::string(10 << 20, 'x'));
  EXPECT_LT(capped.size(), kMaxErrorBytes + 100);
  EXPECT_THAT(capped, EndsWith("… [10420224 more bytes were cut off]"));
}

TEST(FileName, KeepsWhatFilesHaveEverywhereAndIsNoPlace) {
  EXPECT_EQ(file_name_from("executorch/xnnpack-int8 v1.2_b"), "executorch_xnnpack-int8_v1.2_b");
  EXPECT_EQ(file_name_from("a b", '-'), "a-b");
  EXPECT_EQ(file_name_from("ä"), "__") << "byte by byte";
  EXPECT_EQ(file_name_from(""), "_");
  EXPECT_EQ(file_name_from(".."), "_..");
  EXPECT_EQ(file_name_from(".hidden"), "_.hidden");
}

}  // namespace
}  // namespace assay
