#include "assay/spec/program_format.h"

#include <gtest/gtest.h>
#include <optional>

namespace assay {
namespace {

TEST(ProgramFormat, IsKnownByTheEnding) {
  EXPECT_EQ(find_program_format("a/net.pte"), "pte");
  EXPECT_EQ(find_program_format("net.xml"), "openvino_ir");
  EXPECT_EQ(find_program_format("program.aoti.pt2"), "aoti");
  EXPECT_EQ(find_program_format("program.torch.pt2"), "pt2");
}

TEST(ProgramFormat, IsNoneForWhatAToolchainReads) {
  for (const auto* ref : {"net.pt2", "net.pt", "net.py", "net.py:make", "torchvision:resnet18",
                          "torchvision:a.b", "resnet18", "plugin_model"}) {
    EXPECT_EQ(find_program_format(ref), std::nullopt) << ref;
  }
}

TEST(ProgramFormat, OfAnEnginesOwnIsTheEnding) {
  EXPECT_EQ(find_program_format("some.dir/net.toy"), "toy");
  EXPECT_EQ(find_program_format("net.toy.json"), "toy");
  EXPECT_EQ(find_program_format("net.fake.json"), "fake");
  EXPECT_EQ(find_program_format("net.json"), std::nullopt);
  EXPECT_EQ(find_program_format("net.2"), std::nullopt);
  EXPECT_EQ(find_model_file("net.toy"), "net.toy");
}

}  // namespace
}  // namespace assay
