#pragma once

#include <string_view>

namespace assay::cli {

/// Version and build of this program. Defined in a source that the build generates
/// (cmake/AssayBuildInfo.cmake) and links into the program alone.
struct BuildInfo {
  std::string_view version;     ///< "0.1.0"
  std::string_view commit;      ///< "6d3e65c1f2ab", with "-dirty" if files differ; or "unknown".
  std::string_view compiler;    ///< "GNU 12.2.0"
  std::string_view build_type;  ///< "RelWithDebInfo"
  std::string_view target;      ///< "x86_64-linux-gnu"; empty if the compiler does not tell.
};

const BuildInfo& build_info();

}  // namespace assay::cli
