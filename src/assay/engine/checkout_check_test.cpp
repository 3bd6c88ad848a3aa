#include "assay/engine/checkout_check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>

#include "assay/base/result.h"
#include "assay/engine/checkout_backends.h"
#include "assay/engine/checkout_tools.h"
#include "assay/engine/testing/fake_checkout.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CheckoutCheck : public FakeCheckout {
 protected:
  [[nodiscard]] std::string message_of(const CheckoutRequest& asked) const {
    const auto found = check_checkout(asked);
    EXPECT_FALSE(found);
    return found ? "" : found.error().message;
  }
};

TEST_F(CheckoutCheck, FindsWhatABuildNeeds) {
  const auto tools = check_checkout(request("vulkan"));
  ASSERT_TRUE(tools) << tools.error().message;
  EXPECT_EQ(tools->version, "1.5.0");
  EXPECT_EQ(tools->package, std::filesystem::canonical(path("installed")));
  EXPECT_EQ(tools->glslc, path("bin/glslc"));
  EXPECT_EQ(tools->flatc, path("bin/flatc"));
  EXPECT_EQ(tools->commit, "");  // No git, and no repository.
  EXPECT_THAT(tools->missing_extensions, ElementsAre("GL_NEW"));
}

TEST_F(CheckoutCheck, NamesEverythingThatIsMissingAtOnce) {
  auto asked = request("vulkan");
  asked.backends.push_back(find_checkout_backend("vgf").value());
  for (const auto* program : {"ninja", "glslc", "flatc", "c++"}) {
    std::filesystem::remove(path("bin") / program);
  }
  std::filesystem::remove_all(path("executorch/backends/vulkan/third-party/volk"));
  std::filesystem::remove_all(path("executorch/third-party/flatbuffers"));
  std::filesystem::remove_all(path("vgf"));
  write_program("cmake", "echo cmake version 3.25.1\n");
  write_program("python", "exit 1\n");
  const auto found = check_checkout(asked);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("8 things are missing"), HasSubstr("apt-get install ninja-build"),
                    HasSubstr("apt-get install glslc"), HasSubstr("apt-get install g++"),
                    HasSubstr("no flatc"), HasSubstr("version 3.25, and 3.28 is needed"),
                    HasSubstr("pip install pyyaml"), HasSubstr("ai-ml-sdk-vgf-library")));
  EXPECT_THAT(found.error().message,
              HasSubstr("git -C " + path("executorch").string() +
                        " submodule update --init backends/vulkan/third-party/volk "
                        "third-party/flatbuffers"));
}

TEST_F(CheckoutCheck, LeavesOutWhatOtherBackendsNeed) {
  std::filesystem::remove(path("bin/glslc"));
  std::filesystem::remove(path("bin/flatc"));
  const auto tools = check_checkout(request("vgf"));
  ASSERT_TRUE(tools) << tools.error().message;
  EXPECT_EQ(tools->vgf, path("vgf"));
  EXPECT_THAT(tools->missing_extensions, IsEmpty());
}

TEST_F(CheckoutCheck, RefusesAFolderThatIsNoCheckout) {
  auto asked = request("vulkan");
  asked.checkout = path("bin");
  EXPECT_THAT(message_of(asked), AllOf(HasSubstr("one thing is missing"), HasSubstr("version.txt"),
                                       HasSubstr("git clone")));
}

TEST_F(CheckoutCheck, RefusesAnotherReleaseThanTheInstalledOne) {
  std::filesystem::remove(path("executorch/version.txt"));
  write("executorch/version.txt", "1.4.1\n");
  EXPECT_THAT(message_of(request("vulkan")),
              AllOf(HasSubstr("the installed ExecuTorch is 1.5.1+cpu and the checkout is 1.4.1"),
                    HasSubstr("checkout v1.5.1,")));
}

TEST_F(CheckoutCheck, RefusesAFlatcOfAnotherVersion) {
  write_program("flatc", "echo flatc version 25.1.1\n");
  EXPECT_THAT(message_of(request("vulkan")), HasSubstr("no flatc 24.3.25"));
}

TEST_F(CheckoutCheck, RefusesAGlslcThatCompilesNothing) {
  write_program("glslc", "exit 1\n");
  EXPECT_THAT(message_of(request("vulkan")), HasSubstr("does not compile an empty shader"));
}

TEST_F(CheckoutCheck, PrefersTheCompilerOfTheVulkanSdk) {
  write("sdk/bin/glslc", "#!/bin/sh\nexit 0\n");
  std::filesystem::permissions(path("sdk/bin/glslc"), std::filesystem::perms::owner_all);
  ::setenv("VULKAN_SDK", path("sdk").c_str(), 1);
  const auto tools = check_checkout(request("vulkan"));
  ASSERT_TRUE(tools) << tools.error().message;
  EXPECT_EQ(tools->glslc, path("sdk/bin/glslc"));
  EXPECT_THAT(tools->missing_extensions, IsEmpty());
}

TEST_F(CheckoutCheck, TakesTheInstallationOfAnInterpreter) {
  auto asked = request("vulkan");
  asked.prefix.clear();
  write_program("python", "echo " + path("installed").string() + "\n");
  const auto tools = check_checkout(asked);
  ASSERT_TRUE(tools) << tools.error().message;
  EXPECT_EQ(tools->prefix, path("installed"));
  write_program("python", "echo\n");
  EXPECT_THAT(message_of(asked), HasSubstr("has no executorch; install it there"));
}

TEST(CheckoutBackends, AreSuggested) {
  const auto found = find_checkout_backend("vulcan");
  EXPECT_EQ(found.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(found.error().message, HasSubstr("did you mean 'vulkan'?"));
}

TEST(VersionOfProgram, IsTheFirstThatItPrints) {
  EXPECT_FALSE(version_of_program("/bin/false"));
  EXPECT_FALSE(version_of_program("/nowhere/cmake"));
}

}  // namespace
}  // namespace assay
