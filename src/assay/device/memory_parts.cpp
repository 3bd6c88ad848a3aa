#include "assay/device/memory_parts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"
#include "assay/device/text_fields.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

/// glibc makes each arena but the first of regions of this size, at a multiple of it.
constexpr std::uintptr_t kArenaRegion = std::uintptr_t{64} << 20;

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

std::uintptr_t hex_number(std::string_view text) {
  std::uintptr_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

bool is_library(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

bool is_shared_memory(std::string_view path) {
  constexpr std::array<std::string_view, 5> kStarts = {"/dev/shm/", "/memfd:", "/SYSV", "/dev/zero",
                                                       "/dev/ashmem"};
  return std::ranges::any_of(kStarts,
                             [path](std::string_view start) { return path.starts_with(start); });
}

NamedBytes part(std::string name, std::int64_t bytes) {
  return {.name = std::move(name), .bytes = bytes};
}

}  // namespace

MemoryMap::MemoryMap(std::string_view executable, std::span<const std::string> program_files,
                     std::span<const MallocBlock> blocks, ResidentBytes resident_bytes)
    : executable_(executable),
      program_files_(program_files),
      blocks_(blocks),
      resident_bytes_(std::move(resident_bytes)) {}

void MemoryMap::add_line(std::string_view line) {
  if (line.empty()) {
    return;
  }
  // Fields begin with a capital letter, the head of a mapping with its address in small digits.
  if (line.front() < 'A' || line.front() > 'Z') {
    add_header(line);
    return;
  }
  if (!current_ || (!line.starts_with("Rss:") && !line.starts_with("Private_Dirty:"))) {
    return;
  }
  const auto bytes = leading_integer(line.substr(line.find(':') + 1)).value_or(0) * 1024;
  if (line.front() == 'R') {
    current_->rss_bytes = bytes;
    rss_bytes_ += bytes;
  } else {
    private_dirty_bytes_ += bytes;
  }
}

/// "7f00-7f10 rw-p 00000000 00:00 0    [heap]"
void MemoryMap::add_header(std::string_view line) {
  const auto range = take_word(line);
  const auto access = take_word(line);
  for (int skipped = 0; skipped < 3; ++skipped) {  // Offset, device, inode.
    take_word(line);
  }
  const auto dash = range.find('-');
  Mapping mapping{.begin = hex_number(range.substr(0, dash)),
                  .end = hex_number(range.substr(dash + 1)),
                  .is_writable = access.find('w') != std::string_view::npos,
                  .is_reserved = access.starts_with("---")};
  auto path = trimmed(line);
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) {
    path.remove_suffix(kDeleted.size());
  }
  settle(&mapping);
  mapping.kind = kind_of(path, mapping);
  current_ = mapping;
}

MemoryMap::Kind MemoryMap::kind_of(std::string_view path, const Mapping& mapping) const {
  if (path.empty() || path.starts_with("[anon")) {
    // Data of a library that start as zeros are not in its file, and lie right behind it.
    const bool is_behind_library = previous_ && previous_->kind == Kind::kLibrary &&
                                   previous_->is_writable && previous_->end == mapping.begin;
    return is_behind_library ? Kind::kLibrary : Kind::kAnonymous;
  }
  if (path == "[heap]") {
    return Kind::kArena;
  }
  if (path == "[stack]") {
    return Kind::kStack;
  }
  if (std::ranges::find(program_files_, path) != program_files_.end()) {
    return Kind::kProgramFile;
  }
  if (is_shared_memory(path)) {
    return Kind::kSharedMemory;
  }
  const bool is_code = path.front() == '[' || path == executable_ || is_library(path);
  return is_code ? Kind::kLibrary : Kind::kOtherFile;
}

/// Adds the current mapping to the sums. `next`: the one behind it, without which an arena of
/// malloc cannot be distinguished from other anonymous memory.
void MemoryMap::settle(const Mapping* next) {
  if (!current_) {
    return;
  }
  auto& mapping = *current_;
  const bool is_whole = mapping.end - mapping.begin == kArenaRegion;
  const bool has_reserve = next != nullptr && next->is_reserved && next->begin == mapping.end &&
                           next->end == mapping.begin + kArenaRegion;
  if (mapping.kind == Kind::kAnonymous && mapping.is_writable &&
      mapping.begin % kArenaRegion == 0 && (is_whole || has_reserve)) {
    mapping.kind = Kind::kArena;
  }
  sums_[static_cast<std::size_t>(mapping.kind)] += mapping.rss_bytes;
  if (mapping.kind == Kind::kArena || mapping.kind == Kind::kAnonymous) {
    add_blocks(mapping);
  }
  previous_ = mapping;
  current_.reset();
}

void MemoryMap::add_blocks(const Mapping& mapping) {
  for (const auto& block : blocks_) {
    if (block.address < mapping.begin || block.address >= mapping.end) {
      continue;
    }
    large_bytes_ += static_cast<std::int64_t>(block.bytes);
    (mapping.kind == Kind::kArena ? resident_in_arenas_ : resident_in_mappings_) +=
        resident_bytes_(block);
  }
}

std::vector<NamedBytes> MemoryMap::parts(const AllocationCounts* malloc) {
  settle(nullptr);
  std::vector<NamedBytes> parts = {
      part("program_files", sum_of(Kind::kProgramFile)), part("libraries", sum_of(Kind::kLibrary)),
      part("other_files", sum_of(Kind::kOtherFile)),
      part("shared_memory", sum_of(Kind::kSharedMemory)), part("stack", sum_of(Kind::kStack))};
  const auto arenas = sum_of(Kind::kArena);
  const auto anonymous = sum_of(Kind::kAnonymous);
  if (malloc == nullptr) {
    parts.push_back(part("unattributed", arenas + anonymous));
    return parts;
  }
  const auto resident_large = resident_in_arenas_ + resident_in_mappings_;
  const auto small = malloc->live_bytes - large_bytes_;
  parts.push_back(part("malloc", malloc->live_bytes));
  parts.push_back(part("never_touched", resident_large - large_bytes_));
  parts.push_back(part("malloc_unused", arenas - small - resident_in_arenas_));
  parts.push_back(part("unattributed", anonymous - resident_in_mappings_));
  return parts;
}

void split_declared(std::span<const NamedBytes> declared, std::vector<NamedBytes>& parts) {
  auto source = std::ranges::find(parts, "malloc", &NamedBytes::name);
  const bool is_counted = source != parts.end();
  if (!is_counted) {
    source = std::ranges::find(parts, "unattributed", &NamedBytes::name);
  }
  if (source == parts.end()) {
    return;
  }
  std::vector<NamedBytes> split;
  auto rest = source->bytes;
  for (const auto& one : declared) {
    if (!one.is_peak && one.bytes != 0) {
      split.push_back(part("declared." + one.name, one.bytes));
      rest -= one.bytes;
    }
  }
  *source = part(is_counted ? "malloc_other" : "unattributed", rest);
  parts.insert(source, std::make_move_iterator(split.begin()),
               std::make_move_iterator(split.end()));
}

std::int64_t bytes_of_part(const std::vector<NamedBytes>& parts, std::string_view name) {
  const auto found = std::ranges::find(parts, name, &NamedBytes::name);
  return found == parts.end() ? 0 : found->bytes;
}

std::int64_t resident_bytes_of(const MallocBlock& block) {
  static const FileDescriptor pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  // Bit 63: in memory. Bit 56: mapped by nobody else, which the page of zeros never is.
  constexpr std::uint64_t kOwn = std::uint64_t{1} << 63 | std::uint64_t{1} << 56;
  std::array<std::uint64_t, 512> entries{};
  const auto end = block.address + block.bytes;
  std::int64_t resident = 0;
  for (auto at = block.address / page; at * page < end; at += entries.size()) {
    const auto count = std::min(entries.size(), (end + page - 1) / page - at);
    const auto wanted = static_cast<ssize_t>(count * sizeof entries[0]);
    if (::pread(pagemap.get(), entries.data(), static_cast<std::size_t>(wanted),
                static_cast<off_t>(at * sizeof entries[0])) != wanted) {
      return static_cast<std::int64_t>(block.bytes);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if ((entries[i] & kOwn) == kOwn) {
        const auto first = std::max(block.address, (at + i) * page);
        resident += static_cast<std::int64_t>(std::min(end, (at + i + 1) * page) - first);
      }
    }
  }
  return resident;
}

Status read_memory_map(MemoryMap& map) {
  const FileDescriptor file(::open("/proc/self/smaps", O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot open /proc/self/smaps: {}", std::strerror(errno)));
  }
  std::array<char, 16'384> buffer{};
  std::size_t held = 0;
  for (;;) {
    const auto count = ::read(file.get(), buffer.data() + held, buffer.size() - held);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return count == 0
                 ? Status()
                 : fail(ErrorCode::kUnavailable,
                        fmt::format("cannot read /proc/self/smaps: {}", std::strerror(errno)));
    }
    held += static_cast<std::size_t>(count);
    std::string_view text(buffer.data(), held);
    for (auto newline = text.find('\n'); newline != std::string_view::npos;
         newline = text.find('\n')) {
      map.add_line(text.substr(0, newline));
      text.remove_prefix(newline + 1);
    }
    held = text.size() == buffer.size() ? 0 : text.size();  // No line of the kernel is so long.
    std::memmove(buffer.data(), text.data(), held);
  }
}

}  // namespace assay
