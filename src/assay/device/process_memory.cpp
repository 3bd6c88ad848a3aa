#include "assay/device/process_memory.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"
#include "assay/device/memory_parts.h"
#include "assay/device/text_fields.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

Result<std::int64_t> kib_field(std::string_view text, std::string_view key, std::string_view file) {
  const auto kib = find_integer_field(text, key);
  if (!kib) {
    return fail(ErrorCode::kUnavailable, fmt::format("{} does not tell '{}'", file, key));
  }
  return *kib * 1024;
}

std::string executable_path() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

constexpr const char* kRollup = "/proc/self/smaps_rollup";
constexpr const char* kStatus = "/proc/self/status";

/// Room for either of the two files.
using Buffer = std::array<char, 8192>;

/// The text of a file of the kernel; empty if it cannot be read. Allocates nothing: a reading of
/// the memory must not change it.
std::string_view text_of(const char* path, Buffer& buffer) {
  const FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  std::size_t held = 0;
  while (file.is_open() && held < buffer.size()) {
    const auto count = ::read(file.get(), buffer.data() + held, buffer.size() - held);
    if (count == 0 || (count < 0 && errno != EINTR)) {
      break;
    }
    held += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return {buffer.data(), held};
}

}  // namespace

Result<MemoryStage> memory_stage_from_text(std::string_view smaps_rollup, std::string_view status) {
  MemoryStage stage;
  ASSAY_ASSIGN_OR_RETURN(stage.rss_bytes, kib_field(smaps_rollup, "Rss", kRollup));
  ASSAY_ASSIGN_OR_RETURN(stage.pss_bytes, kib_field(smaps_rollup, "Pss", kRollup));
  ASSAY_ASSIGN_OR_RETURN(stage.private_dirty_bytes,
                         kib_field(smaps_rollup, "Private_Dirty", kRollup));
  ASSAY_ASSIGN_OR_RETURN(stage.peak_rss_bytes, kib_field(status, "VmHWM", kStatus));
  return stage;
}

Result<MemoryStage> read_process_memory(std::string_view stage_name, const MallocState* malloc,
                                        std::span<const std::string> program_files) {
  static const std::string executable = executable_path();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  MemoryMap map(executable, program_files,
                malloc == nullptr ? std::span<const MallocBlock>() : malloc->large_blocks,
                resident_bytes_of);
  ASSAY_RETURN_IF_ERROR(read_memory_map(map));
  ASSAY_ASSIGN_OR_RETURN(auto stage, read_process_memory_totals(stage_name));
  // The sums of the parts, which were read a moment earlier.
  stage.rss_bytes = map.rss_bytes();
  stage.private_dirty_bytes = map.private_dirty_bytes();
  stage.parts = map.parts(malloc == nullptr ? nullptr : &malloc->counts);
  if (malloc != nullptr) {
    stage.allocations = malloc->counts;
  }
  stage.minor_faults = usage.ru_minflt;
  stage.major_faults = usage.ru_majflt;
  return stage;
}

Result<MemoryStage> read_process_memory_totals(std::string_view stage_name) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  Buffer rollup;
  Buffer status;
  ASSAY_ASSIGN_OR_RETURN(
      auto stage, memory_stage_from_text(text_of(kRollup, rollup), text_of(kStatus, status)));
  stage.name = stage_name;
  stage.minor_faults = usage.ru_minflt;
  stage.major_faults = usage.ru_majflt;
  return stage;
}

Result<std::int64_t> read_private_dirty_bytes() {
  Buffer buffer;
  return kib_field(text_of(kRollup, buffer), "Private_Dirty", kRollup);
}

Result<int> count_process_threads() {
  Buffer buffer;
  const auto threads = find_integer_field(text_of(kStatus, buffer), "Threads");
  if (!threads) {
    return fail(ErrorCode::kUnavailable, fmt::format("{} does not tell 'Threads'", kStatus));
  }
  return static_cast<int>(*threads);
}

}  // namespace assay
