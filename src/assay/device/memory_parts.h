#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/launch.h"

namespace assay {

/// A live block of malloc: what the caller may use of it.
struct MallocBlock {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
};

/// State that malloc reports of itself. `large_blocks`: those whose pages are worth asking for; all
/// others count as resident.
struct MallocState {
  AllocationCounts counts;
  std::span<const MallocBlock> large_blocks;
};

/// Bytes of a block that are in memory.
using ResidentBytes = std::function<std::int64_t(const MallocBlock&)>;

/// Sums the resident set over the mappings of /proc/<pid>/smaps, line by line, by what they are
/// for.
class MemoryMap {
 public:
  /// `executable`: of the process; `program_files`: what its engine loads; by absolute path.
  /// `blocks` are looked up in the anonymous mappings. All outlive this.
  MemoryMap(std::string_view executable, std::span<const std::string> program_files,
            std::span<const MallocBlock> blocks, ResidentBytes resident_bytes);

  void add_line(std::string_view line);

  /// Parts of the resident set, which add up to rss_bytes(); after the last line. `malloc` null:
  /// nothing is known of malloc, and all anonymous memory is unattributed.
  [[nodiscard]] std::vector<NamedBytes> parts(const AllocationCounts* malloc);

  [[nodiscard]] std::int64_t rss_bytes() const { return rss_bytes_; }
  [[nodiscard]] std::int64_t private_dirty_bytes() const { return private_dirty_bytes_; }

 private:
  enum class Kind : std::uint8_t {
    kProgramFile,
    kLibrary,
    kOtherFile,
    kSharedMemory,
    kStack,
    kArena,      ///< The heap, and malloc's arenas of other threads.
    kAnonymous,  ///< Large blocks of malloc, stacks of threads, what an engine maps.
  };
  static constexpr std::size_t kKinds = 7;

  struct Mapping {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    bool is_writable = false;
    bool is_reserved = false;  ///< No access at all.
    Kind kind = Kind::kOtherFile;
    std::int64_t rss_bytes = 0;
  };

  void add_header(std::string_view line);
  void settle(const Mapping* next);
  [[nodiscard]] Kind kind_of(std::string_view path, const Mapping& mapping) const;
  void add_blocks(const Mapping& mapping);
  [[nodiscard]] std::int64_t sum_of(Kind kind) const {
    return sums_[static_cast<std::size_t>(kind)];
  }

  std::string_view executable_;
  std::span<const std::string> program_files_;
  std::span<const MallocBlock> blocks_;
  ResidentBytes resident_bytes_;
  std::optional<Mapping> current_;
  std::optional<Mapping> previous_;
  std::array<std::int64_t, kKinds> sums_{};
  std::int64_t rss_bytes_ = 0;
  std::int64_t private_dirty_bytes_ = 0;
  // Sizes of the large blocks found: all bytes, and those in memory.
  std::int64_t large_bytes_ = 0;
  std::int64_t resident_in_arenas_ = 0;
  std::int64_t resident_in_mappings_ = 0;
};

/// Splits the part "malloc" into what the engine declares, by name "declared.<name>", and
/// "malloc_other"; where malloc is not counted, declared bytes are taken from "unattributed". Peaks
/// are left out, as nothing of them is held. The sum stays.
void split_declared(std::span<const NamedBytes> declared, std::vector<NamedBytes>& parts);

/// The part of that name, or 0.
std::int64_t bytes_of_part(const std::vector<NamedBytes>& parts, std::string_view name);

/// Bytes of a block of this process that are in memory and are its own, from /proc/self/pagemap:
/// a page that was read but never written is the kernel's page of zeros and not in the resident
/// set. All of them where that is not told.
std::int64_t resident_bytes_of(const MallocBlock& block);

/// Reads /proc/self/smaps into `map` and allocates nothing. Errors: kUnavailable.
Status read_memory_map(MemoryMap& map);

}  // namespace assay
