#include "assay/engines/executorch/vulkan_device.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace assay::et {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class VulkanDevice : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("ETVK_DEVICE_INDEX"); }
  void TearDown() override { ::unsetenv("ETVK_DEVICE_INDEX"); }
};

TEST_F(VulkanDevice, IsTheGpuThatTheDelegatePrefers) {
  EXPECT_EQ(vulkan_device_note(ASSAY_FAKE_VULKAN), "Vulkan device: large, a discrete GPU");
}

TEST_F(VulkanDevice, IsTheOneThatTheEnvironmentNames) {
  ::setenv("ETVK_DEVICE_INDEX", "1", 1);
  EXPECT_EQ(vulkan_device_note(ASSAY_FAKE_VULKAN), "Vulkan device: small, an integrated GPU");
  // An index that is none is passed over, as the delegate does.
  for (const auto* wrong : {"3", "-1", "1x", ""}) {
    ::setenv("ETVK_DEVICE_INDEX", wrong, 1);
    EXPECT_THAT(vulkan_device_note(ASSAY_FAKE_VULKAN), HasSubstr("large")) << wrong;
  }
}

TEST_F(VulkanDevice, SaysThatACpuIsNoGpu) {
  ::setenv("ETVK_DEVICE_INDEX", "0", 1);
  EXPECT_THAT(vulkan_device_note(ASSAY_FAKE_VULKAN),
              AllOf(HasSubstr("software, a CPU"), HasSubstr("of a software driver")));
}

TEST_F(VulkanDevice, IsNotNamedWithoutALibrary) {
  EXPECT_EQ(vulkan_device_note("libnowhere.so.1"), "");
}

}  // namespace
}  // namespace assay::et
