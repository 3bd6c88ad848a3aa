#include "assay/report/text_table.h"

#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

#include "assay/report/format.h"

namespace assay::report {
namespace {

TextTable table_of_three() {
  TextTable table;
  table.columns = {{.title = "name",
                    .is_left = true,
                    .importance = 100,
                    .most_width = 20,
                    .least_width = 6,
                    .cells = {{"a-rather-long-name"}, {"b"}}},
                   {.title = "time", .unit = "ms", .importance = 90, .cells = {{"11.6"}, {"3190"}}},
                   {.title = "load", .unit = "ms", .importance = 10, .cells = {{"2"}, {"31"}}}};
  return table;
}

TEST(TextTable, AlignsNumbersRightUnderTheirHead) {
  const auto layout = table_of_three().lay_out(80, false);
  EXPECT_EQ(layout.text,
            "name                time  load\n"
            "                      ms    ms\n"
            "a-rather-long-name  11.6     2\n"
            "b                   3190    31\n");
  EXPECT_TRUE(layout.dropped.empty());
}

TEST(TextTable, DropsTheLeastImportantColumnAndSaysSo) {
  const auto layout = table_of_three().lay_out(26, false);
  EXPECT_THAT(layout.dropped, testing::ElementsAre("load ms"));
  EXPECT_THAT(layout.text, testing::HasSubstr("a-rather-long-name  11.6"));
}

TEST(TextTable, ShortensNamesBeforeImportantColumnsGo) {
  const auto layout = table_of_three().lay_out(15, false);
  EXPECT_THAT(layout.dropped, testing::ElementsAre("load ms"));
  EXPECT_THAT(layout.text, testing::HasSubstr("a-ra…name  11.6"));
}

TEST(TextTable, NeverIsWiderThanAsked) {
  for (std::size_t width = 1; width < 40; ++width) {
    std::istringstream lines(table_of_three().lay_out(width, false).text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(TextTable, PutsGroupTitlesOverTheirRows) {
  auto table = table_of_three();
  table.indent = 2;
  table.groups = {{0, "first model"}, {1, "second model"}};
  const auto text = table.lay_out(80, false).text;
  EXPECT_THAT(text, testing::HasSubstr("first model\n  a-rather"));
  EXPECT_THAT(text, testing::HasSubstr("second model\n  b "));
}

TEST(TextTable, ColoursOnTerminalsOnly) {
  auto table = table_of_three();
  table.columns[1].cells[0].colour = "31";
  EXPECT_THAT(table.lay_out(80, true).text, testing::HasSubstr("\x1b[31m11.6\x1b[0m"));
  EXPECT_THAT(table.lay_out(80, false).text, testing::Not(testing::HasSubstr("\x1b")));
}

TEST(TextTable, IsEmptyWithoutColumns) { EXPECT_EQ(TextTable{}.lay_out(80, false).text, ""); }

}  // namespace
}  // namespace assay::report
