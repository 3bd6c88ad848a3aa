#pragma once

#include <string>

namespace assay::et {

/// Names the device that VulkanBackend computes on, such as "Vulkan device: llvmpipe (LLVM 15.0.6,
/// 256 bits), a CPU: …", by asking the system's libvulkan; empty where there is none. The choice is
/// that of the delegate: the device that ETVK_DEVICE_INDEX names, else a discrete GPU before an
/// integrated one, a virtual one, another kind and a CPU; the first of its kind. `library`: as
/// dlopen() takes it.
std::string vulkan_device_note(const char* library = "libvulkan.so.1");

}  // namespace assay::et
