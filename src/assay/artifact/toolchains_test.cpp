#include "assay/artifact/toolchains.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

const Json kLitert = {{"flow", "litert"}};
const Json kOnnx = {{"flow", "onnx"}};

/// Two environments side by side, of which the interpreters say who they are.
class Toolchains : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("ASSAY_PYTHON_LITERT"); }
  void TearDown() override { ::unsetenv("ASSAY_PYTHON_LITERT"); }

  stdfs::path environment(const std::string& name, const std::string& id) const {
    const auto python = folder_.path() / name / "bin" / "python";
    stdfs::create_directories(python.parent_path());
    std::ofstream(python) << "#!/bin/sh\necho asked >> " << asked_.string() << "\necho '{\"id\": \""
                          << id << "\", \"missing\": {\"litert/fp32\": \"" << id
                          << "\", \"torch/aoti\": \"" << id << "\"}}'\n";
    stdfs::permissions(python, stdfs::perms::owner_all);
    return python;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("toolchains").value();
  stdfs::path asked_ = folder_.path() / "asked";
  stdfs::path default_ = environment(".venv", "default");
};

TEST_F(Toolchains, AreTheDefaultOneWhereThereIsNoOther) {
  EXPECT_EQ(python_of(kOnnx, default_), default_);
  EXPECT_EQ(python_of(kLitert, default_), default_);
  EXPECT_EQ(python_of(nullptr, default_), default_);
}

TEST_F(Toolchains, OfTheirOwnLieBesideTheDefaultOne) {
  const auto own = environment(".venv-litert", "own");
  EXPECT_EQ(python_of(kLitert, default_), own);
  EXPECT_EQ(python_of(kOnnx, default_), default_);
}

TEST_F(Toolchains, OfTheirOwnAreNamedByAVariable) {
  environment(".venv-litert", "own");
  const auto named = environment("elsewhere", "named");
  ::setenv("ASSAY_PYTHON_LITERT", named.c_str(), 1);
  EXPECT_EQ(python_of(kLitert, default_), named);
  EXPECT_EQ(python_of(kOnnx, default_), default_);
}

TEST_F(Toolchains, AreAskedOnce) {
  environment(".venv-litert", "own");
  const auto toolchain_of = toolchains_of(default_);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(toolchain_of(kOnnx).value().id, "default");
    EXPECT_EQ(toolchain_of(kLitert).value().id, "own");
  }
  EXPECT_EQ(read_file(asked_).value(), "asked\nasked\n");
}

TEST_F(Toolchains, OfMachineCodeAreTheProcessorAndTheCompilerToo) {
  const auto toolchain_of = toolchains_of(default_);
  const auto compiling = toolchain_of({{"flow", "aoti"}}).value();
  EXPECT_NE(compiling.id, "default");
  EXPECT_EQ(compiling.python, toolchain_of(kOnnx).value().python);
}

TEST_F(Toolchains, TellWhatTheyCannotMakeEachForItsOwnRecipes) {
  EXPECT_EQ(find_missing_recipes(default_).at("litert/fp32"), "default");
  environment(".venv-litert", "own");
  const auto missing = find_missing_recipes(default_);
  EXPECT_EQ(missing.at("litert/fp32"), "own");
  EXPECT_EQ(missing.at("torch/aoti"), "default");
}

TEST_F(Toolchains, MakeNothingWhereTheyCannotBeStarted) {
  environment(".venv-litert", "own");
  stdfs::remove(default_);
  const auto missing = find_missing_recipes(default_);
  EXPECT_THAT(missing.at("executorch/portable"),
              testing::HasSubstr("cannot be used; assay doctor"));
  EXPECT_EQ(missing.at("litert/fp32"), "own") << "another interpreter makes it";
  const auto why = query_toolchain(default_).error().message;
  EXPECT_THAT(why, testing::Not(testing::HasSubstr("lacks torch"))) << "it is not there at all";
}

}  // namespace
}  // namespace assay
