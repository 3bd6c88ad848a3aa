#include "fixedpoint/memory.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace fixedpoint {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void Free::operator()(std::byte* memory) const { std::free(memory); }

Memory take_unset_memory(std::size_t bytes) {
  const std::size_t huge_bytes = bytes / kHugePage * kHugePage;
  const std::size_t alignment = huge_bytes > 0 ? kHugePage : kAlignment;
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, whole));
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
#if defined(__linux__)
  if (huge_bytes > 0) {
    // A hint, which may fail: weights that are read in one go cross fewer pages.
    static_cast<void>(madvise(memory, huge_bytes, MADV_HUGEPAGE));
  }
#endif
  return Memory(memory);
}

Memory take_memory(std::size_t bytes) {
  auto memory = take_unset_memory(bytes);
  std::memset(memory.get(), 0, bytes);
  return memory;
}

}  // namespace fixedpoint
