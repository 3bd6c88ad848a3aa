#pragma once

#include <filesystem>
#include <string>

#include "assay/base/result.h"
#include "assay/engine/checkout_check.h"
#include "assay/record/subject.h"

namespace assay {

struct CheckoutBuildRequest {
  std::string label;  ///< "vulkan" of executorch@vulkan.
  CheckoutRequest from;
  std::filesystem::path source;  ///< Assay's source tree.
  std::filesystem::path home;
};

/// Compiles backends from a checkout of ExecuTorch into <home>/engines/executorch@<label>/backends,
/// one shared library each, and then a runner that loads them at its start; their content is part
/// of the digest of the build. Takes minutes; the compiler's words go to the build.log beside each.
/// `tools`: from check_checkout(). Errors: kUnavailable, naming the log; those of build_runner().
Result<EngineBuild> build_from_checkout(const CheckoutBuildRequest& request,
                                        const CheckoutTools& tools);

}  // namespace assay
