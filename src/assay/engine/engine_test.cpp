#include "assay/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::HasSubstr;

const std::vector<OptionSchema> kSchema = {
    {.name = "threads",
     .type = "int",
     .minimum = 1,
     .maximum = 8,
     .default_value = 1,
     .scope = "load"},
    {.name = "mode", .type = "string", .values = {"a", "b"}, .scope = "load"},
};

TEST(Options, FillDefaultsAndKeepWhatWasAsked) {
  const auto options = validate_options({{"mode", "b"}}, kSchema).value();
  EXPECT_EQ(options, Json({{"threads", 1}, {"mode", "b"}}));
}

TEST(Options, RefuseUnknownNamesTypesAndValues) {
  EXPECT_THAT(validate_options({{"thread", 2}}, kSchema).error().message,
              HasSubstr("did you mean 'threads'?"));
  EXPECT_THAT(validate_options({{"threads", "2"}}, kSchema).error().message,
              HasSubstr("takes int"));
  EXPECT_THAT(validate_options({{"threads", 0}}, kSchema).error().message,
              HasSubstr("takes 1 to 8, not 0"));
  EXPECT_FALSE(validate_options({{"threads", 9}}, kSchema));
  EXPECT_THAT(validate_options({{"mode", "c"}}, kSchema).error().message,
              HasSubstr(R"(["a","b"])"));
}

TEST(Options, RefuseNumbersBeyondTheLargestThatIsSigned) {
  const std::vector<OptionSchema> schema = {{.name = "n", .type = "int", .maximum = 8}};
  EXPECT_THAT(validate_options({{"n", 18446744073709551615U}}, schema).error().message,
              HasSubstr("takes at most 8, not 18446744073709551615"));
  EXPECT_TRUE(validate_options({{"n", -1}}, schema));
}

}  // namespace
}  // namespace assay
