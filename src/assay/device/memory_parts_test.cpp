#include "assay/device/memory_parts.h"

#include <cstddef>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace assay {
namespace {

constexpr std::int64_t kKib = 1024;

/// A process with a heap of 400 KiB, an arena of another thread, and two blocks of malloc that have
/// mappings of their own, one of them half touched.
constexpr const char* kSmaps = R"(55550000-55560000 r-xp 00000000 fe:00 10    /opt/bin/runner
Rss:                  40 kB
Private_Dirty:         0 kB
55560000-55570000 rw-p 00010000 fe:00 10    /opt/bin/runner
Rss:                   8 kB
Private_Dirty:         8 kB
55570000-55580000 rw-p 00000000 00:00 0
Rss:                   4 kB
Private_Dirty:         4 kB
555a0000-55600000 rw-p 00000000 00:00 0                  [heap]
Rss:                 400 kB
Private_Dirty:       400 kB
VmFlags: rd wr mr mw me ac
7f0000000000-7f0000100000 rw-p 00000000 00:00 0
Rss:                 100 kB
Private_Dirty:       100 kB
7f0000100000-7f0004000000 ---p 00000000 00:00 0
Rss:                   0 kB
7f0100000000-7f0100200000 rw-p 00000000 00:00 0
Rss:                1000 kB
Private_Dirty:      1000 kB
7f0110000000-7f0110100000 r--p 00000000 fe:00 12    /data/model.pte
Rss:                 512 kB
Private_Dirty:         0 kB
7f0120000000-7f0120100000 r-xp 00000000 fe:00 13    /usr/lib/libm.so.6 (deleted)
Rss:                 128 kB
7f0130000000-7f0130100000 r--p 00000000 fe:00 14    /usr/share/locale
Rss:                  16 kB
7f0140000000-7f0140100000 rw-s 00000000 00:01 15    /dev/shm/queue
Rss:                  32 kB
7ffc00000000-7ffc00100000 rw-p 00000000 00:00 0     [stack]
Rss:                  24 kB
7ffc10000000-7ffc10001000 r-xp 00000000 00:00 0     [vdso]
Rss:                   4 kB
)";

std::int64_t sum_of(const std::vector<NamedBytes>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                         [](std::int64_t sum, const NamedBytes& part) { return sum + part.bytes; });
}

class MemoryMapTest : public testing::Test {
 protected:
  MemoryMapTest() {
    std::istringstream text(kSmaps);
    for (std::string line; std::getline(text, line);) {
      map_.add_line(line);
    }
  }

  const std::vector<std::string> program_files_ = {"/data/model.pte"};
  /// Mapped: 600 KiB of which 300 are touched; in the heap: 64 KiB, all of it.
  const std::vector<MallocBlock> blocks_ = {{.address = 0x7f0100000010, .bytes = 600 * kKib},
                                            {.address = 0x555a0010, .bytes = 64 * kKib}};
  MemoryMap map_{"/opt/bin/runner", program_files_, blocks_, [](const MallocBlock& block) {
                   const auto bytes = static_cast<std::int64_t>(block.bytes);
                   return bytes == 600 * kKib ? bytes / 2 : bytes;
                 }};
};

TEST_F(MemoryMapTest, AddsUpToTheResidentSet) {
  const AllocationCounts malloc{.live_bytes = 900 * kKib};
  const auto parts = map_.parts(&malloc);
  EXPECT_EQ(map_.rss_bytes(), 2268 * kKib);
  EXPECT_EQ(map_.private_dirty_bytes(), 1512 * kKib);
  EXPECT_EQ(sum_of(parts), map_.rss_bytes());
}

TEST_F(MemoryMapTest, TellsMappingsApartByWhatTheyAreFor) {
  const auto parts = map_.parts(nullptr);
  EXPECT_EQ(bytes_of_part(parts, "program_files"), 512 * kKib);
  // The executable with its zeroed data behind it, a library that was replaced, the kernel's.
  EXPECT_EQ(bytes_of_part(parts, "libraries"), (40 + 8 + 4 + 128 + 4) * kKib);
  EXPECT_EQ(bytes_of_part(parts, "other_files"), 16 * kKib);
  EXPECT_EQ(bytes_of_part(parts, "shared_memory"), 32 * kKib);
  EXPECT_EQ(bytes_of_part(parts, "stack"), 24 * kKib);
}

TEST_F(MemoryMapTest, SplitsAnonymousMemoryByWhatMallocTells) {
  const AllocationCounts malloc{.live_bytes = 900 * kKib};
  const auto parts = map_.parts(&malloc);
  EXPECT_EQ(bytes_of_part(parts, "malloc"), 900 * kKib);
  EXPECT_EQ(bytes_of_part(parts, "never_touched"), -300 * kKib);
  // Heap and arena hold 500; 300 live blocks are not mapped on their own, all of them touched.
  EXPECT_EQ(bytes_of_part(parts, "malloc_unused"), 200 * kKib);
  EXPECT_EQ(bytes_of_part(parts, "unattributed"), 700 * kKib);
}

TEST_F(MemoryMapTest, LeavesAllAnonymousMemoryUnattributedWhereMallocIsNotCounted) {
  const auto parts = map_.parts(nullptr);
  EXPECT_EQ(bytes_of_part(parts, "unattributed"), 1500 * kKib);
  EXPECT_EQ(sum_of(parts), map_.rss_bytes());
}

TEST_F(MemoryMapTest, SplitsOffWhatTheEngineDeclaresAndHolds) {
  const AllocationCounts malloc{.live_bytes = 900 * kKib};
  auto parts = map_.parts(&malloc);
  const std::vector<NamedBytes> declared = {
      {"arena", 500 * kKib}, {"temp", 50 * kKib, /*is_peak=*/true}, {"nothing", 0}};
  split_declared(declared, parts);
  EXPECT_EQ(bytes_of_part(parts, "declared.arena"), 500 * kKib);
  EXPECT_EQ(bytes_of_part(parts, "malloc_other"), 400 * kKib);
  EXPECT_EQ(bytes_of_part(parts, "declared.temp"), 0);
  EXPECT_EQ(bytes_of_part(parts, "malloc"), 0);
  EXPECT_EQ(sum_of(parts), map_.rss_bytes());
}

TEST_F(MemoryMapTest, TakesDeclaredBytesFromTheRestWhereMallocIsNotCounted) {
  auto parts = map_.parts(nullptr);
  split_declared(std::vector<NamedBytes>{{"arena", 500 * kKib}}, parts);
  EXPECT_EQ(bytes_of_part(parts, "declared.arena"), 500 * kKib);
  EXPECT_EQ(bytes_of_part(parts, "unattributed"), 1000 * kKib);
  EXPECT_EQ(sum_of(parts), map_.rss_bytes());
}

TEST(ResidentBytes, AreThoseThatWereWritten) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const mapped = ::mmap(nullptr, 8 * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ::madvise(mapped, 8 * page, MADV_NOHUGEPAGE);
  auto* const bytes = static_cast<volatile char*>(mapped);
  bytes[page] = 1;
  bytes[2 * page] = 1;
  EXPECT_EQ(bytes[5 * page], 0);  // Read only: the kernel's page of zeros.
  const MallocBlock block{.address = reinterpret_cast<std::uintptr_t>(mapped) + 16,
                          .bytes = 8 * page - 16};
  EXPECT_EQ(resident_bytes_of(block), static_cast<std::int64_t>(2 * page));
  bytes[0] = 1;
  EXPECT_EQ(resident_bytes_of(block), static_cast<std::int64_t>(3 * page - 16));
  ::munmap(mapped, 8 * page);
}

}  // namespace
}  // namespace assay
