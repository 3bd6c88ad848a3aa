#pragma once

#include <optional>
#include <string>

namespace assay::et {

struct VulkanDevice {
  std::string name;  ///< "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string kind;  ///< "a CPU", "a discrete GPU"
  bool is_cpu = false;
};

/// The device that VulkanBackend computes on, by asking the system's libvulkan; nullopt if there
/// is none. The choice is that of the delegate: the device that ETVK_DEVICE_INDEX names, else a
/// discrete GPU before an integrated one, a virtual one, another kind and a CPU; the first of its
/// kind. `library`: as dlopen() takes it.
std::optional<VulkanDevice> find_vulkan_device(const char* library = "libvulkan.so.1");

/// Why there is none, and how to get one; empty if there is one.
std::string why_no_vulkan_device(const char* library = "libvulkan.so.1");

}  // namespace assay::et
