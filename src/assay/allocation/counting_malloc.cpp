#include "assay/allocation/counting_malloc.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <span>
#include <string>
#if !defined(ASSAY_PRELOADED)
#include <string_view>
#endif

#include <malloc.h>

#include "assay/device/malloc_reader.h"
#include "assay/device/memory_parts.h"
#include "assay/record/launch.h"
#include "assay/wire/runner_environment.h"

// A sanitizer replaces malloc itself; another C library has no __libc_malloc to forward to.
#if defined(__has_feature)
#define ASSAY_HAS_FEATURE(name) __has_feature(name)
#else
#define ASSAY_HAS_FEATURE(name) 0
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !ASSAY_HAS_FEATURE(address_sanitizer) && !ASSAY_HAS_FEATURE(thread_sanitizer) &&         \
    !ASSAY_HAS_FEATURE(memory_sanitizer)
#define ASSAY_COUNTS_MALLOC 1
#else
#define ASSAY_COUNTS_MALLOC 0
#endif

namespace assay {
namespace {

constexpr std::size_t kLargeBytes = std::size_t{64} << 10;
constexpr std::size_t kMostLargeBlocks = 4096;

// All of it is ready before any constructor runs, takes no lock and never allocates: malloc is
// called by the loader, by every thread, and in the child between fork and exec.
/// A library is preloaded to count, and has no earlier moment to begin at than its first call.
#if defined(ASSAY_PRELOADED)
constinit std::atomic<bool> is_counting{true};
#else
constinit std::atomic<bool> is_counting{false};
#endif
constinit std::atomic<std::int64_t> live_bytes{0};
constinit std::atomic<std::int64_t> peak_live_bytes{0};
constinit std::atomic<std::int64_t> total_bytes{0};
constinit std::atomic<std::int64_t> allocation_count{0};

/// An address of 0 is a free slot.
struct Slot {
  std::atomic<std::uintptr_t> address{0};
  std::atomic<std::size_t> bytes{0};
};
constinit std::array<Slot, kMostLargeBlocks> slots{};
constinit std::atomic<std::size_t> slots_used{0};  ///< No slot from here on was ever taken.

#if ASSAY_COUNTS_MALLOC

void raise_to(std::atomic<std::int64_t>& most, std::int64_t value) {
  auto known = most.load(std::memory_order_relaxed);
  while (known < value && !most.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

/// When all slots are taken the block is one of the many: it counts, but nobody asks where it lies.
void remember_large(std::uintptr_t address, std::size_t bytes) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    std::uintptr_t nobody = 0;
    if (!slots[i].address.compare_exchange_strong(nobody, address)) {
      continue;
    }
    slots[i].bytes = bytes;
    auto used = slots_used.load();
    while (used < i + 1 && !slots_used.compare_exchange_weak(used, i + 1)) {
    }
    return;
  }
}

void forget_large(std::uintptr_t address) {
  const auto used = slots_used.load();
  for (std::size_t i = 0; i < used; ++i) {
    if (slots[i].address.load(std::memory_order_relaxed) == address) {
      slots[i].address = 0;
      return;
    }
  }
}

void note_allocated(void* block) {
  if (block == nullptr) {
    return;
  }
  const auto bytes = ::malloc_usable_size(block);
  const auto added = static_cast<std::int64_t>(bytes);
  raise_to(peak_live_bytes, live_bytes.fetch_add(added, std::memory_order_relaxed) + added);
  total_bytes.fetch_add(added, std::memory_order_relaxed);
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  if (bytes >= kLargeBytes) {
    remember_large(reinterpret_cast<std::uintptr_t>(block), bytes);
  }
}

/// Before the block is given back: afterwards another thread may have its address.
void note_freed(void* block) {
  if (block == nullptr) {
    return;
  }
  const auto bytes = ::malloc_usable_size(block);
  live_bytes.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  if (bytes >= kLargeBytes) {
    forget_large(reinterpret_cast<std::uintptr_t>(block));
  }
}

void note_kept(void* block) {
  const auto bytes = ::malloc_usable_size(block);
  live_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  if (bytes >= kLargeBytes) {
    remember_large(reinterpret_cast<std::uintptr_t>(block), bytes);
  }
}

bool should_count() { return is_counting.load(std::memory_order_relaxed); }

#if !defined(ASSAY_PRELOADED)
/// Runs in the executable before the constructors of its libraries.
void start_if_asked(int /*argc*/, char** /*argv*/, char** environment) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    constexpr auto kName = wire::kCountAllocations;
    if (entry.starts_with(kName) && entry.substr(kName.size()) == "=1") {
      is_counting = true;
    }
  }
}
#endif

#endif

}  // namespace

std::string allocation_counting_unavailable() {
  if (!ASSAY_COUNTS_MALLOC) {
    return "this runner counts no malloc: it is built with a sanitizer, or its C library is not "
           "glibc";
  }
  return is_counting ? ""
                     : fmt::format("the runner was started without {}=1", wire::kCountAllocations);
}

std::optional<AllocationCounts> read_allocation_counts() {
  if (!is_counting) {
    return std::nullopt;
  }
  return AllocationCounts{.live_bytes = live_bytes,
                          .peak_live_bytes = peak_live_bytes,
                          .total_bytes = total_bytes,
                          .count = allocation_count};
}

std::span<const MallocBlock> read_large_blocks() {
  static constinit std::array<MallocBlock, kMostLargeBlocks> blocks{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < slots_used; ++i) {
    if (const auto address = slots[i].address.load(); address != 0) {
      blocks[count++] = {.address = address, .bytes = slots[i].bytes};
    }
  }
  return {blocks.data(), count};
}

MallocReader counted_malloc() {
  return {.read_counts = read_allocation_counts,
          .read_large_blocks = read_large_blocks,
          .unavailable = allocation_counting_unavailable()};
}

}  // namespace assay

#if ASSAY_COUNTS_MALLOC

// Functions that glibc exports for those who replace its malloc: no dlsym, which allocates itself.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): glibc's names.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void __libc_free(void* block);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void* __libc_valloc(std::size_t bytes);
void* __libc_pvalloc(std::size_t bytes);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace assay {
namespace {

#if !defined(ASSAY_PRELOADED)
// Nothing else of Assay runs before main; this does, or what libraries allocate in their
// constructors would be freed without ever having been counted.
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const kStartBeforeMain)(int, char**, char**) = start_if_asked;
#endif

[[gnu::noinline]] void* counted(void* block) {
  note_allocated(block);
  return block;
}

}  // namespace
}  // namespace assay

// NOLINTBEGIN(misc-include-cleaner): these are the functions that the headers declare.
extern "C" {

// When off each ends in a jump to glibc's: nothing is left to do behind it.
void* malloc(std::size_t bytes) {
  if (!assay::should_count()) [[likely]] {
    return __libc_malloc(bytes);
  }
  return assay::counted(__libc_malloc(bytes));
}

void free(void* block) {
  if (assay::should_count()) [[unlikely]] {
    assay::note_freed(block);
  }
  __libc_free(block);
}

void* calloc(std::size_t count, std::size_t bytes) {
  if (!assay::should_count()) [[likely]] {
    return __libc_calloc(count, bytes);
  }
  return assay::counted(__libc_calloc(count, bytes));
}

void* realloc(void* block, std::size_t bytes) {
  if (!assay::should_count()) [[likely]] {
    return __libc_realloc(block, bytes);
  }
  assay::note_freed(block);
  void* const moved = __libc_realloc(block, bytes);
  if (moved == nullptr && block != nullptr && bytes != 0) {
    assay::note_kept(block);
    return nullptr;
  }
  assay::note_allocated(moved);
  return moved;
}

void* reallocarray(void* block, std::size_t count, std::size_t bytes) {
  if (bytes != 0 && count > std::numeric_limits<std::size_t>::max() / bytes) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, count * bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  if (!assay::should_count()) [[likely]] {
    return __libc_memalign(alignment, bytes);
  }
  return assay::counted(__libc_memalign(alignment, bytes));
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return ::memalign(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  const int before = errno;  // POSIX: it is returned, not set.
  void* const made = ::memalign(alignment, bytes);
  errno = before;
  if (made == nullptr) {
    return ENOMEM;
  }
  *block = made;
  return 0;
}

void* valloc(std::size_t bytes) {
  if (!assay::should_count()) [[likely]] {
    return __libc_valloc(bytes);
  }
  return assay::counted(__libc_valloc(bytes));
}

void* pvalloc(std::size_t bytes) {
  if (!assay::should_count()) [[likely]] {
    return __libc_pvalloc(bytes);
  }
  return assay::counted(__libc_pvalloc(bytes));
}
}
// NOLINTEND(misc-include-cleaner)

#endif
