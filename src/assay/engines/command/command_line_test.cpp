#include "assay/engines/command/command_line.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engines/command/build_folder.h"
#include "assay/engines/command/command_arguments.h"
#include "assay/engines/command/command_engine.h"
#include "assay/engines/command/command_program.h"

namespace assay::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CommandLine, PutsValuesInPlaceOfPlaceholders) {
  CommandProgram program{.folder = "/f",
                         .steps = {{"./b", "-n{iterations}", "{warmup}", "{folder}"}}};
  const auto argv = command_lines_from(program, {.iterations = 7, .warmup = 3})->front();
  EXPECT_THAT(argv, ElementsAre("/f/./b", "-n7", "3", "/f"));
}

TEST(CommandLine, PutsPathsInPlaceOfPlacesAndFoldersOfTheLaunch) {
  CommandProgram program{.folder = "/f",
                         .steps = {{"{place:tool}", "--out={scratch:host}/x"}, {"true"}}};
  Values values{.places = {{"tool", "/opt/tool"}}, .scratch = "/tmp/s"};
  const auto lines = command_lines_from(program, values).value();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], ElementsAre("/opt/tool", "--out=/tmp/s/host/x"));
  values.places.clear();
  EXPECT_EQ(command_lines_from(program, values).error().code, ErrorCode::kInvalidArgument);
  program.steps = {{"{scratch:../x}"}};
  EXPECT_EQ(command_lines_from(program, values).error().code, ErrorCode::kInvalidArgument);
}

TEST(CommandLine, LeavesADoubledBraceAsOne) {
  CommandProgram program{.folder = "/f", .steps = {{"awk", "{{print $1}", "{open"}}};
  EXPECT_THAT(command_lines_from(program, {})->front(), ElementsAre("awk", "{print $1}", "{open"));
}

class Build : public testing::Test {
 protected:
  Result<BuildFolder> read(const Json& changes = Json::object()) {
    Json json = {{"schema", "assay/engine-build/1"},
                 {"engine", "toy"},
                 {"revision", "0123456789abcdef"},
                 {"outcome", "built"},
                 {"outputs", {{"bench", "bin/bench"}, {"library", "lib/libtoy.so"}}}};
    json.update(changes);
    EXPECT_TRUE(write_file_atomically(folder_.path() / "build.json", json.dump()));
    return read_build_folder(folder_.path());
  }

  CommandProgram program_{.folder = "/f", .steps = {{"{build:bench}", "--root={build}"}}};
  TemporaryFolder folder_ = TemporaryFolder::make("command-build").value();
};

TEST_F(Build, GivesItsFolderAndItsOutputs) {
  const auto build = read().value();
  const auto root = folder_.path().string();
  EXPECT_THAT(command_lines_from(program_, {.build = &build})->front(),
              ElementsAre(root + "/bin/bench", "--root=" + root));
}

TEST_F(Build, NamesTheVerbThatMakesOneWhereThereIsNone) {
  const auto argv = command_lines_from(program_, {});
  EXPECT_EQ(argv.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(argv.error().message, HasSubstr("assay engine build"));
}

TEST_F(Build, SuggestsTheOutputThatWasMeant) {
  const auto build = read().value();
  program_.steps = {{"{build:bensh}"}};
  EXPECT_THAT(command_lines_from(program_, {.build = &build}).error().message,
              HasSubstr("did you mean 'bench'"));
}

TEST_F(Build, IsRefusedWhereItFailedOrLeavesItsFolder) {
  EXPECT_EQ(read({{"outcome", "failed"}, {"log", "build.log"}}).error().code,
            ErrorCode::kUnavailable);
  EXPECT_EQ(read({{"schema", "assay/engine-build/2"}}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read({{"outputs", {{"x", "../../bin/sh"}}}}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read({{"outputs", {{"x", "/bin/sh"}}}}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read({{"outputs", {"x"}}}).error().code, ErrorCode::kCorrupt);
}

/// Arguments of a runner, as main has them.
Result<CommandArguments> parsed(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (auto& word : words) {
    argv.push_back(word.data());
  }
  auto arguments = arguments_from(argv);
  if (arguments) {
    EXPECT_THAT(arguments->rest.front(), testing::StrEq("runner"));
    arguments->rest.clear();  // Their pointers lead into `words`, which ends here.
  }
  return arguments;
}

TEST_F(Build, IsWhatTheRunnerSaysOfItself) {
  ASSERT_TRUE(read());
  const auto arguments = parsed({"runner", "--name", "toy", "--version", "0123456789ab", "--build",
                                 folder_.path().string(), "--describe"});
  const auto description = CommandEngine(arguments->identity).describe().value();
  EXPECT_EQ(description.name, "toy");
  EXPECT_EQ(description.version, "0123456789ab");
  EXPECT_EQ(description.build_id, "toy-0123456789ab");
  EXPECT_THAT(description.reads, ElementsAre(folder_.path().string()));
  EXPECT_FALSE(parsed({"runner", "--name", "a b"}));
  EXPECT_FALSE(parsed({"runner", "--version"}));
}

}  // namespace
}  // namespace assay::command
