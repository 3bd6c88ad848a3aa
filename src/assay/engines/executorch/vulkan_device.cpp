#include "assay/engines/executorch/vulkan_device.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>

namespace assay::et {
namespace {

// The few parts of Vulkan's C interface that are used, so that its headers are no requirement.
// Source: the Vulkan specification, vkCreateInstance and VkPhysicalDeviceProperties.
using Instance = void*;
using PhysicalDevice = void*;
using CreateInstance = std::int32_t (*)(const void* info, const void* allocator, Instance* made);
using DestroyInstance = void (*)(Instance instance, const void* allocator);
using EnumerateDevices = std::int32_t (*)(Instance instance, std::uint32_t* count,
                                          PhysicalDevice* devices);
using GetProperties = void (*)(PhysicalDevice device, void* properties);

struct InstanceCreateInfo {
  std::int32_t type = 1;  // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
  const void* next = nullptr;
  std::uint32_t flags = 0;
  const void* application = nullptr;
  std::uint32_t layer_count = 0;
  const char* const* layers = nullptr;
  std::uint32_t extension_count = 0;
  const char* const* extensions = nullptr;
};

/// The beginning of VkPhysicalDeviceProperties, and room for its limits.
struct DeviceProperties {
  std::uint32_t api_version = 0;
  std::uint32_t driver_version = 0;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t type = 0;
  std::array<char, 256> name{};
  std::array<std::byte, 4096> rest{};
};

struct KindOfDevice {
  std::string_view text;
  int priority;  ///< With the delegate.
};

/// Name of a VkPhysicalDeviceType.
constexpr auto kKinds = std::to_array<KindOfDevice>({{"a device of another kind", 2},
                                                     {"an integrated GPU", 4},
                                                     {"a discrete GPU", 5},
                                                     {"a virtual GPU", 3},
                                                     {"a CPU", 1}});
constexpr std::size_t kCpu = 4;

const KindOfDevice& kind_of(const DeviceProperties& properties) {
  return kKinds.at(properties.type < kKinds.size() ? properties.type : 0);
}

/// libvulkan while it is asked.
class Vulkan {
 public:
  explicit Vulkan(const char* library) : library_(::dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
    const auto create = function<CreateInstance>("vkCreateInstance");
    const InstanceCreateInfo info;
    if (create == nullptr || create(&info, nullptr, &instance_) != 0) {
      instance_ = nullptr;
    }
  }
  Vulkan(const Vulkan&) = delete;
  Vulkan& operator=(const Vulkan&) = delete;
  Vulkan(Vulkan&&) = delete;
  Vulkan& operator=(Vulkan&&) = delete;
  ~Vulkan() {
    const auto destroy = function<DestroyInstance>("vkDestroyInstance");
    if (destroy != nullptr && instance_ != nullptr) {
      destroy(instance_, nullptr);
    }
    if (library_ != nullptr) {
      ::dlclose(library_);
    }
  }

  [[nodiscard]] bool has_library() const { return library_ != nullptr; }

  [[nodiscard]] std::vector<DeviceProperties> devices() const {
    const auto enumerate = function<EnumerateDevices>("vkEnumeratePhysicalDevices");
    const auto get = function<GetProperties>("vkGetPhysicalDeviceProperties");
    std::uint32_t count = 0;
    if (instance_ == nullptr || enumerate == nullptr || get == nullptr ||
        enumerate(instance_, &count, nullptr) != 0) {
      return {};
    }
    std::vector<PhysicalDevice> handles(count);
    if (enumerate(instance_, &count, handles.data()) != 0) {
      return {};
    }
    std::vector<DeviceProperties> devices(count);
    for (std::size_t i = 0; i < count; ++i) {
      get(handles[i], &devices[i]);
    }
    return devices;
  }

 private:
  template <class Function>
  [[nodiscard]] Function function(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library_, name));
  }

  void* library_;
  Instance instance_ = nullptr;
};

std::optional<std::size_t> named_index(std::size_t count) {
  const char* text = std::getenv("ETVK_DEVICE_INDEX");
  const std::string_view digits = text == nullptr ? "" : text;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  return is_number && index < count ? std::optional(index) : std::nullopt;
}

}  // namespace

std::optional<VulkanDevice> find_vulkan_device(const char* library) {
  const auto devices = Vulkan(library).devices();
  if (devices.empty()) {
    return std::nullopt;
  }
  const auto priority = [](const DeviceProperties& device) { return kind_of(device).priority; };
  const auto named = named_index(devices.size());
  const auto& used =
      named ? devices[*named] : *std::ranges::max_element(devices, std::ranges::less(), priority);
  return VulkanDevice{.name = used.name.data(),
                      .kind = std::string(kind_of(used).text),
                      .is_cpu = used.type == kCpu};
}

std::string why_no_vulkan_device(const char* library) {
  const Vulkan vulkan(library);
  if (!vulkan.has_library()) {
    return fmt::format("Vulkan's loader {} is not there: install it (Debian: libvulkan1)", library);
  }
  return vulkan.devices().empty()
             ? "Vulkan's loader finds no driver that works: VK_LOADER_DEBUG=error says why, and "
               "VK_DRIVER_FILES names the file of another (without a display, NVIDIA's needs one "
               "with libEGL_nvidia.so.0; Debian's mesa-vulkan-drivers compute on the CPU)"
             : "";
}

}  // namespace assay::et
