#pragma once

#include <cstdint>

#include <unistd.h>

namespace assay {

/// The memory of this machine; 0 if it is unknown.
inline std::int64_t physical_memory_bytes() {
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace assay
