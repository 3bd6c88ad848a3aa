#include "assay/campaign/hidden_interpreter.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A home with an interpreter, and a program elsewhere.
class HiddenInterpreter : public testing::Test {
 protected:
  void SetUp() override {
    put(home_ / "miniconda3/bin/python3",
        "\x7f"
        "ELF");
  }

  static void put(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    ASSERT_TRUE(write_file_atomically(file, text, 0755));
  }

  [[nodiscard]] std::string hint(const Json& document,
                                 const std::vector<std::string>& readable = {}) const {
    const auto program = folder_.path() / "program/net.command.json";
    put(program, document.dump());
    return hint_of_hidden_interpreter(program, readable, home_);
  }

  TemporaryFolder folder_ = TemporaryFolder::make("hidden").value();
  std::filesystem::path home_ = folder_.path() / "home";
  std::string python_ = (home_ / "miniconda3/bin/python3").string();
};

TEST_F(HiddenInterpreter, IsNamedWithWhatHelps) {
  EXPECT_THAT(hint({{"argv", {python_, "bench.py"}}}),
              AllOf(HasSubstr("the sandbox hides"), HasSubstr("miniconda3, where python3"),
                    HasSubstr("--sandbox=off")));
  EXPECT_THAT(hint({{"steps", {{"/bin/sh"}, {python_}}}}), HasSubstr("miniconda3"));
}

TEST_F(HiddenInterpreter, IsFoundThroughTheFirstLineOfAScript) {
  put(folder_.path() / "program/bench", "#!" + python_ + "\nprint(1)\n");
  EXPECT_THAT(hint({{"argv", {"./bench"}}}), HasSubstr("where python3 is installed"));
}

TEST_F(HiddenInterpreter, IsNoneWhereTheSandboxShowsItOrTheSystemHasIt) {
  EXPECT_EQ(hint({{"argv", {python_}}}, {(home_ / "miniconda3").string()}), "");
  EXPECT_THAT(hint({{"argv", {python_}}}, {python_, (home_ / "miniconda3/bin").string()}),
              HasSubstr("the sandbox hides"))
      << "its library is not beside it";
  EXPECT_EQ(hint({{"argv", {"/bin/sh", "-c", python_}}}), "");
  EXPECT_EQ(hint({{"argv", {"{place:python}"}}}), "");
  EXPECT_EQ(hint({{"argv", 3}}), "");
  EXPECT_EQ(hint({{"steps", "x"}, {"argv", {"/bin/sh"}}}), "");
  EXPECT_EQ(hint({{"steps", {{"a", 1}}}}), "");
}

}  // namespace
}  // namespace assay
