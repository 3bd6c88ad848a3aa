#pragma once

#include <cstddef>
#include <memory>

namespace fixedpoint {

struct Free {
  void operator()(std::byte* memory) const;
};
using Memory = std::unique_ptr<std::byte, Free>;

/// Zeros, aligned for vector units; in huge pages where they fill one and the system gives them.
Memory take_memory(std::size_t bytes);

/// As `take_memory`, of any content.
Memory take_unset_memory(std::size_t bytes);

}  // namespace fixedpoint
