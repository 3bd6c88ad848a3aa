#pragma once

#include "fixedpoint/memory.h"

#include <cstddef>

namespace fixedpoint {

/// Memory that operations of one program use in turn, as large as the largest needs: what one
/// leaves in it is nothing to the next, but it is still in a cache.
class Scratch {
 public:
  /// While a program is loaded; what `data` returned before is gone.
  void reserve(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_ = take_memory(bytes);
      bytes_ = bytes;
    }
  }
  std::byte* data() const { return memory_.get(); }

 private:
  Memory memory_;
  std::size_t bytes_ = 0;
};

}  // namespace fixedpoint
