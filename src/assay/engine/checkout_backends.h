#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay {

/// A part of a checkout that a backend needs: a file of it, and the submodule that brings the file;
/// empty: it belongs to the checkout itself.
struct CheckoutFile {
  std::string_view path;
  std::string_view submodule = {};
};

/// A program or package that a backend's sources need to be compiled.
enum class BuildTool : std::uint8_t { kGlslc, kFlatc, kYaml, kVgfLibrary, kTorchHeaders };

/// A backend of ExecuTorch, or a set of operators, that its wheel lacks and a checkout has.
struct CheckoutBackend {
  std::string_view name;        ///< "vulkan", as --backends takes it.
  std::string_view registered;  ///< "VulkanBackend", as programs name it; empty: only operators.
  std::string_view target;      ///< In cmake/executorch_backends; makes "lib<target>.so".
  std::vector<CheckoutFile> files;
  std::vector<BuildTool> tools;
};

std::span<const CheckoutBackend> checkout_backends();

/// Errors: kInvalidArgument with did-you-mean.
Result<const CheckoutBackend*> find_checkout_backend(std::string_view name);

}  // namespace assay
