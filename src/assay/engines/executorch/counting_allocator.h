#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <executorch/runtime/core/memory_allocator.h>
#include <limits>
#include <vector>

namespace assay::et {

/// Allocates with malloc, like the runtime's own MallocMemoryAllocator, and tells the peak.
/// reset() frees everything; the runtime calls it on a temporary allocator after each instruction.
class CountingAllocator final : public ::executorch::runtime::MemoryAllocator {
 public:
  CountingAllocator() : MemoryAllocator(0, nullptr) {}
  CountingAllocator(const CountingAllocator&) = delete;
  CountingAllocator& operator=(const CountingAllocator&) = delete;
  ~CountingAllocator() override { CountingAllocator::reset(); }

  void* allocate(std::size_t size, std::size_t alignment = kDefaultAlignment) override {
    if (!isPowerOf2(alignment)) {
      return nullptr;
    }
    alignment = std::max(alignment, alignof(std::max_align_t));
    if (size > std::numeric_limits<std::size_t>::max() - alignment) {
      return nullptr;  // Rounded up it would be 0.
    }
    const std::size_t rounded = (std::max<std::size_t>(size, 1) + alignment - 1) & ~(alignment - 1);
    void* block = std::aligned_alloc(alignment, rounded);
    if (block == nullptr) {
      return nullptr;
    }
    blocks_.push_back(block);
    used_bytes_ += rounded;
    peak_bytes_ = std::max(peak_bytes_, used_bytes_);
    return block;
  }

  void reset() override {
    for (void* block : blocks_) {
      std::free(block);
    }
    blocks_.clear();
    used_bytes_ = 0;
  }

  [[nodiscard]] std::size_t used_size() const override { return used_bytes_; }
  [[nodiscard]] std::int64_t peak_bytes() const { return static_cast<std::int64_t>(peak_bytes_); }

 private:
  std::vector<void*> blocks_;
  std::size_t used_bytes_ = 0;
  std::size_t peak_bytes_ = 0;
};

}  // namespace assay::et
