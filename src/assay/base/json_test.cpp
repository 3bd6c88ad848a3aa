#include "assay/base/json.h"

#include <cstddef>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include <sys/stat.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {
namespace {

using testing::HasSubstr;

std::string nested_lists(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

std::string message_of(const std::string& text) {
  const auto parsed = parse_json(text, "x.json");
  return parsed ? "" : parsed.error().message;
}

TEST(Json, BuildsWhatTheLibraryBuilds) {
  const std::string text =
      R"({"a": [1, -2, 2.5, null, true, "µ\n", {}, []], "b": {"c": {"d": 18446744073709551615}}})";
  EXPECT_EQ(parse_json(text, "x.json").value(), Json::parse(text));
  EXPECT_EQ(parse_json("3", "x.json").value(), Json(3));
}

TEST(Json, RefusesWhatIsNestedTooDeep) {
  EXPECT_TRUE(parse_json(nested_lists(kMaxJsonDepth), "x.json"));
  EXPECT_THAT(message_of("\n" + nested_lists(kMaxJsonDepth + 1)),
              HasSubstr("x.json: line 2: lists and objects are nested deeper than 64 levels"));
  EXPECT_THAT(message_of(nested_lists(10'000'000)), HasSubstr("nested deeper"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) {
    objects += R"({"a":)";
  }
  EXPECT_THAT(message_of(objects), HasSubstr("nested deeper"));
}

TEST(Json, HasATextWithoutQuotesForAString) {
  EXPECT_EQ(unquoted_text("a\"b"), "a\"b");
  EXPECT_EQ(unquoted_text(2), "2");
  EXPECT_EQ(unquoted_text(Json::array({"a", true})), R"(["a",true])");
}

TEST(Json, NamesAKeyThatStandsTwiceAndBothLines) {
  EXPECT_EQ(message_of("{\"a\": 1,\n \"b\": {\"a\": 2},\n \"a\": 3}"),
            "x.json: duplicate key 'a' in lines 1 and 3; remove one");
  EXPECT_TRUE(parse_json(R"([{"a": 1}, {"a": 2}])", "x.json"));
}

TEST(Json, RefusesCommentsWhereNobodyWritesByHand) {
  EXPECT_TRUE(parse_json("{} // a comment", "x.json"));
  EXPECT_FALSE(parse_json("{} // a comment", "x.json", JsonComments::kRefused));
}

TEST(Json, RefusesFilesThatHaveNoEndOrAreTooLarge) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(read_json_file(pipe).error().message, HasSubstr("is a pipe, but a regular file is"));
  EXPECT_THAT(read_json_file("/dev/zero").error().message, HasSubstr("is a device"));
  EXPECT_THAT(read_json_file(folder.path()).error().message, HasSubstr("is a folder"));
  const auto large = folder.path() / "large.json";
  ASSERT_TRUE(write_file_atomically(large, "1"));
  std::filesystem::resize_file(large, kMaxJsonFileBytes + 1);  // A hole: nothing is written.
  EXPECT_THAT(read_json_file(large).error().message, HasSubstr("larger than the limit of 67.1 MB"));
}

}  // namespace
}  // namespace assay
