#include "assay/engine/python_runner.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/engine/build_runner.h"
#include "assay/engine/installed_builds.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

/// Stands for an interpreter: tells its arguments where a description is expected.
class PythonRunner : public testing::Test {
 protected:
  std::filesystem::path interpreter(const std::string& name) {
    const auto path = home_.path() / "python";
    std::ofstream(path) << "#!/bin/sh\nprintf '{\"name\": \"" << name
                        << "\", \"version\": \"7\", \"arguments\": \"%s\"}' \"$*\"\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  Result<EngineBuild> add(const std::string& engine, const std::string& calls_itself) {
    return add_python_runner({.name = "mine",
                              .label = "x",
                              .engine = engine,
                              .python = interpreter(calls_itself),
                              .source = find_source_folder().value(),
                              .home = home_.path()});
  }

  TemporaryFolder home_ = TemporaryFolder::make("python-runner").value();
};

TEST_F(PythonRunner, StartsTheInterpreterWithTheEngine) {
  const auto file = home_.path() / "my engine.py";
  std::ofstream(file) << "";
  const auto build = add(file.string() + ":Mine", "mine").value();
  EXPECT_EQ(build.reference(), "mine@x");
  EXPECT_THAT(
      build.details["arguments"].get<std::string>(),
      AllOf(HasSubstr("run_module('assay.engines'"), EndsWith(file.string() + ":Mine --describe")));
  EXPECT_TRUE(get_build(find_installed_builds(home_.path()), "mine@x"));
}

TEST_F(PythonRunner, TellsAMissingFileAndAnotherName) {
  EXPECT_EQ(add("/none/engine.py:Mine", "mine").error().code, ErrorCode::kNotFound);
  const auto other = add("onnxruntime", "other");
  EXPECT_EQ(other.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(other.error().message, HasSubstr("write other@x"));
}

}  // namespace
}  // namespace assay
