// A libvulkan with three devices: a CPU, an integrated GPU and a discrete one. With
// FAKE_VULKAN_NO_DRIVER in the environment it finds no driver.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

struct Device {
  std::uint32_t type;  // VkPhysicalDeviceType
  const char* name;
};

std::array<Device, 3> devices = {{{4, "software"}, {1, "small"}, {2, "large"}}};

constexpr std::size_t kTypeOffset = 16;  // In VkPhysicalDeviceProperties, and so is the next.
constexpr std::size_t kNameOffset = 20;
constexpr std::int32_t kInstanceCreateInfo = 1;  // VkStructureType

}  // namespace

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): the names are Vulkan's.
std::int32_t vkCreateInstance(const void* info, const void* /*allocator*/, void** made) {
  std::int32_t type = 0;
  std::memcpy(&type, info, sizeof type);
  *made = &devices;
  const bool has_driver = std::getenv("FAKE_VULKAN_NO_DRIVER") == nullptr;
  return type == kInstanceCreateInfo && has_driver ? 0 : -1;
}

void vkDestroyInstance(void* /*instance*/, const void* /*allocator*/) {}

std::int32_t vkEnumeratePhysicalDevices(void* /*instance*/, std::uint32_t* count, void** found) {
  *count = devices.size();
  for (std::size_t i = 0; found != nullptr && i < devices.size(); ++i) {
    found[i] = &devices.at(i);
  }
  return 0;
}

void vkGetPhysicalDeviceProperties(void* device, void* properties) {
  const auto& known = *static_cast<const Device*>(device);
  auto* bytes = static_cast<char*>(properties);
  std::memcpy(bytes + kTypeOffset, &known.type, sizeof known.type);
  std::strcpy(bytes + kNameOffset, known.name);
}
// NOLINTEND(readability-identifier-naming)
}
