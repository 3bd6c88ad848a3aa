#include "assay/engines/executorch/vulkan_device.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace assay::et {
namespace {

class VulkanDeviceTest : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("ETVK_DEVICE_INDEX"); }
  void TearDown() override { ::unsetenv("ETVK_DEVICE_INDEX"); }
};

TEST_F(VulkanDeviceTest, IsTheGpuThatTheDelegatePrefers) {
  const auto device = find_vulkan_device(ASSAY_FAKE_VULKAN).value();
  EXPECT_EQ(device.name, "large");
  EXPECT_EQ(device.kind, "a discrete GPU");
  EXPECT_FALSE(device.is_cpu);
}

TEST_F(VulkanDeviceTest, IsTheOneThatTheEnvironmentNames) {
  ::setenv("ETVK_DEVICE_INDEX", "1", 1);
  EXPECT_EQ(find_vulkan_device(ASSAY_FAKE_VULKAN)->name, "small");
  // An index of no device is ignored, as the delegate does.
  for (const auto* wrong : {"3", "-1", "1x", ""}) {
    ::setenv("ETVK_DEVICE_INDEX", wrong, 1);
    EXPECT_EQ(find_vulkan_device(ASSAY_FAKE_VULKAN)->name, "large") << wrong;
  }
}

TEST_F(VulkanDeviceTest, SaysThatACpuIsNoGpu) {
  ::setenv("ETVK_DEVICE_INDEX", "0", 1);
  EXPECT_TRUE(find_vulkan_device(ASSAY_FAKE_VULKAN)->is_cpu);
}

TEST_F(VulkanDeviceTest, IsNoneWithoutALibrary) {
  EXPECT_FALSE(find_vulkan_device("libnowhere.so.1").has_value());
  EXPECT_THAT(why_no_vulkan_device("libnowhere.so.1"),
              testing::HasSubstr("libnowhere.so.1 is not there"));
}

TEST_F(VulkanDeviceTest, SaysThatTheLoaderFindsNoDriver) {
  EXPECT_EQ(why_no_vulkan_device(ASSAY_FAKE_VULKAN), "");
  ::setenv("FAKE_VULKAN_NO_DRIVER", "1", 1);
  EXPECT_FALSE(find_vulkan_device(ASSAY_FAKE_VULKAN).has_value());
  EXPECT_THAT(why_no_vulkan_device(ASSAY_FAKE_VULKAN), testing::HasSubstr("VK_DRIVER_FILES"));
  ::unsetenv("FAKE_VULKAN_NO_DRIVER");
}

}  // namespace
}  // namespace assay::et
