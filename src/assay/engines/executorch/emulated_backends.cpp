#include "assay/engines/executorch/emulated_backends.h"

#include <algorithm>
#include <span>
#include <string>

namespace assay::et {
namespace {

constexpr const char* kQnn = "QnnBackend";

/// Only Arm processors come with an HTP; on others QNN emulates it.
#if defined(__aarch64__)
constexpr bool kMayHaveHtp = true;
#else
constexpr bool kMayHaveHtp = false;
#endif

}  // namespace

std::string emulator_of(std::span<const std::string> backends) {
  const bool is_of_qnn = std::ranges::find(backends, kQnn) != backends.end();
  return is_of_qnn && !kMayHaveHtp ? "QNN's emulator of HTP" : "";
}

}  // namespace assay::et
