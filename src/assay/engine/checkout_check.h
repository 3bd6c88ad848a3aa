#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/checkout_backends.h"

namespace assay {

/// Backends, the sources that they are built from, and the runtime that they are built against.
struct CheckoutRequest {
  std::filesystem::path checkout;                ///< ExecuTorch's sources.
  std::vector<const CheckoutBackend*> backends;  ///< At least one backend.
  /// The installed ExecuTorch whose runtime they register with; empty: that of `python`.
  std::filesystem::path prefix;
  std::filesystem::path python;  ///< Generates shaders; knows the headers of torch.
  std::filesystem::path cmake;
};

/// Programs and folders of this machine that a build of these backends uses.
struct CheckoutTools {
  std::filesystem::path prefix;   ///< The installation.
  std::filesystem::path package;  ///< Folder of the CMake package of the installation.
  std::string version;            ///< "1.5.1", the checkout's.
  std::string commit;             ///< The checkout's; empty where git does not tell.
  std::filesystem::path glslc;
  std::filesystem::path flatc;
  std::filesystem::path vgf;                    ///< Folder with lib/libvgf.a and include/vgf.
  std::vector<std::string> missing_extensions;  ///< Shaders need them and glslc lacks them.
};

/// Looks for all that the build needs, before anything is built: the checkout with its submodules,
/// an installation of the same version, cmake, ninja, a compiler, and what the backends need
/// beside. Starts each program once to learn its version; takes a second or two.
/// Errors: kUnavailable, naming everything that is missing at once, each with the way to get it.
Result<CheckoutTools> check_checkout(const CheckoutRequest& request);

}  // namespace assay
