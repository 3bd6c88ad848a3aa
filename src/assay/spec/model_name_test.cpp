#include "assay/spec/model_name.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ModelName, OfTorchvisionIsKnownBeforeAToolchainStarts) {
  EXPECT_EQ(complaint_about_model_name("torchvision:resnet18"), "");
  EXPECT_THAT(complaint_about_model_name("torchvision:resnt18"),
              HasSubstr("no classification network 'resnt18'; did you mean 'resnet18'?"));
  EXPECT_THAT(complaint_about_model_name("torchvision:"), HasSubstr("known: alexnet"));
}

TEST(ModelName, OfAnotherLibraryIsLeftToTheToolchainUnlessItIsATypo) {
  EXPECT_EQ(complaint_about_model_name("timm:resnt18"), "");
  EXPECT_EQ(complaint_about_model_name("aten:add.Tensor"), "");
  EXPECT_THAT(complaint_about_model_name("torchvison:resnet18"),
              HasSubstr("did you mean 'torchvision'?"));
}

std::string written(std::string_view name, std::string_view source) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path) << source;
  return path.string();
}

TEST(Factory, StandsInItsFile) {
  const auto net = written("net.py", "import torch\ndef make(width=2):\n    pass\nmk_2 = make\n");
  EXPECT_TRUE(check_factory(net + ":make", "bench"));
  EXPECT_TRUE(check_factory(net + ":mk_2", "bench"));
  const auto wrong = check_factory(net + ":mke", "bench: models[0].ref");
  EXPECT_EQ(wrong.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(wrong.error().message,
              AllOf(HasSubstr("models[0].ref: net.py defines no 'mke'"), HasSubstr("'make'")));
  EXPECT_FALSE(check_factory(net + ":mk", "bench")) << "a part of a word is none";
}

TEST(Factory, IsAskedForWhereOnlyTheFileIsNamed) {
  const auto net = written("one.py", "def make():\n    pass\n");
  EXPECT_THAT(check_factory(net, "bench").error().message, HasSubstr("one.py:make"));
  EXPECT_THAT(check_factory(net + ":", "bench").error().message, HasSubstr("one.py:make"));
}

TEST(Factory, ThatIsSuggestedIsAFunctionRatherThanAClass) {
  const auto net = written("two.py", "class M:\n  pass\ndef _help():\n  pass\ndef make():\n");
  EXPECT_THAT(check_factory(net, "bench").error().message, HasSubstr("two.py:make"));
  EXPECT_THAT(factories_in(net), ElementsAre("make", "M"));
  EXPECT_THAT(factories_in("absent.py"), IsEmpty());
}

TEST(Factory, OfAFileThatMakesNamesAsItRunsIsLeftToTheToolchain) {
  const auto star = written("star.py", "from nets import *\n");
  EXPECT_TRUE(check_factory(star + ":make", "bench"));
}

}  // namespace
}  // namespace assay
