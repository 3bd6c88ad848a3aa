#include "assay/engine/checkout_backends.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/suggest.h"

namespace assay {
namespace {

constexpr CheckoutFile kVulkanHeaders = {
    .path = "backends/vulkan/third-party/Vulkan-Headers/include/vulkan/vulkan.h",
    .submodule = "backends/vulkan/third-party/Vulkan-Headers"};
constexpr CheckoutFile kVolk = {.path = "backends/vulkan/third-party/volk/volk.c",
                                .submodule = "backends/vulkan/third-party/volk"};
constexpr CheckoutFile kVma = {
    .path = "backends/vulkan/third-party/VulkanMemoryAllocator/include/vk_mem_alloc.h",
    .submodule = "backends/vulkan/third-party/VulkanMemoryAllocator"};
constexpr CheckoutFile kFlatbuffers = {
    .path = "third-party/flatbuffers/include/flatbuffers/flatbuffers.h",
    .submodule = "third-party/flatbuffers"};
constexpr CheckoutFile kTorchao = {
    .path = "third-party/ao/torchao/csrc/cpu/torch_free_kernels/interface/quantized_matmul.h",
    .submodule = "third-party/ao"};

std::vector<CheckoutBackend> make_backends() {
  return {
      {.name = "vulkan",
       .registered = "VulkanBackend",
       .target = "executorch_backend_vulkan",
       .files =
           {{.path = "backends/vulkan/CMakeLists.txt"}, kVulkanHeaders, kVolk, kVma, kFlatbuffers},
       .tools = {BuildTool::kGlslc, BuildTool::kFlatc, BuildTool::kYaml}},
      {.name = "vgf",
       .registered = "VgfBackend",
       .target = "executorch_backend_vgf",
       .files = {{.path = "backends/arm/runtime/VGFBackend.cpp"}, kVulkanHeaders, kVolk},
       .tools = {BuildTool::kVgfLibrary}},
      {.name = "llm",
       .registered = "",
       .target = "executorch_kernels_llm",
       .files = {{.path = "extension/llm/custom_ops/op_sdpa.cpp"}, kTorchao},
       .tools = {BuildTool::kTorchHeaders}}};
}

}  // namespace

std::span<const CheckoutBackend> checkout_backends() {
  static const auto backends = make_backends();
  return backends;
}

Result<const CheckoutBackend*> find_checkout_backend(std::string_view name) {
  const auto backends = checkout_backends();
  const auto found = std::ranges::find(backends, name, &CheckoutBackend::name);
  if (found != backends.end()) {
    return &*found;
  }
  std::vector<std::string> names;
  for (const auto& backend : backends) {
    names.emplace_back(backend.name);
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("no backend '{}' can be built from a checkout of ExecuTorch{}", name,
                          suggestion_for(name, names)));
}

}  // namespace assay
