#include "features/exchange/fai_pep/substitution.h"

#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::string> replaced(const std::string& text) {
  const std::map<std::string, std::string, std::less<>> values = {
      {"a", "1"}, {"b.c", "{a}2"}, {"x", "{y}"}, {"y", "{x}"}, {"empty", ""}};
  return substituted(
      text,
      [&values](std::string_view name) -> Result<std::optional<std::string>> {
        const auto found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional(found->second);
      },
      "tests[0].commands[1]");
}

TEST(Substitution, ReplacesNamesUntilNoneIsLeft) {
  EXPECT_EQ(replaced("{a}{b.c} {a}").value(), "112 1");
  EXPECT_EQ(replaced("awk '{print $1} {}' {a}").value(), "awk '{print $1} {}' 1");
}

TEST(Substitution, NamesThePathOfAnUnknownName) {
  for (const auto* text : {"{a} {unknown}", "{empty}"}) {
    const auto result = replaced(text);
    EXPECT_THAT(result.error().message, HasSubstr("tests[0].commands[1]"));
    EXPECT_THAT(result.error().message, HasSubstr("--set"));
  }
}

TEST(Substitution, EndsWhereNamesLeadToEachOther) {
  EXPECT_THAT(replaced("{x}").error().message, HasSubstr("lead to each other"));
}

TEST(Substitution, TakesAnyNumberOfNames) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "{b.c}";
  }
  EXPECT_EQ(replaced(text).value().size(), 2000);
}

TEST(Substitution, RefusesTextThatDoublesAgainAndAgain) {
  const auto doubled = substituted(
      "{40}",
      [](std::string_view name) -> Result<std::optional<std::string>> {
        const int level = std::stoi(std::string(name));
        return level == 0 ? "x" : fmt::format("{{{0}}}{{{0}}}", level - 1);
      },
      "tests[0]");
  EXPECT_THAT(doubled.error().message, HasSubstr("more than 1 MB"));
}

TEST(Scalar, IsFoundByItsDottedPath) {
  const Json root = {{"a", {{"b", 5}, {"c", "x"}, {"d", true}}}, {"n", nullptr}};
  EXPECT_EQ(scalar_at(root, "a.b"), "5");
  EXPECT_EQ(scalar_at(root, "a.c"), "x");
  EXPECT_EQ(scalar_at(root, "a.d"), "true");
  for (const auto* path : {"a", "a.e", "n", "a.b.c", "z"}) {
    EXPECT_FALSE(scalar_at(root, path)) << path;
  }
}

TEST(Words, AreThoseOfAShell) {
  EXPECT_THAT(words_from_command(R"(a  'b c' "d\"e" f\ g --h="1,2" '' 'i\j')").value(),
              ElementsAre("a", "b c", "d\"e", "f g", "--h=1,2", "", "i\\j"));
  EXPECT_FALSE(words_from_command("a 'b"));
  EXPECT_FALSE(words_from_command("a\\"));
}

}  // namespace
}  // namespace assay::fai_pep
