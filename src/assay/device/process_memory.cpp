#include "assay/device/process_memory.h"

#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

#include <sys/resource.h>

#include "assay/base/result.h"
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

constexpr std::string_view kRollup = "/proc/self/smaps_rollup";
constexpr std::string_view kStatus = "/proc/self/status";

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

Result<MemoryStage> read_process_memory(std::string_view stage_name) {
  ASSAY_ASSIGN_OR_RETURN(auto stage,
                         memory_stage_from_text(read_system_text(kRollup).value_or(""),
                                                read_system_text(kStatus).value_or("")));
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  stage.name = stage_name;
  stage.minor_faults = usage.ru_minflt;
  stage.major_faults = usage.ru_majflt;
  return stage;
}

Result<int> count_process_threads() {
  const auto threads = find_integer_field(read_system_text(kStatus).value_or(""), "Threads");
  if (!threads) {
    return fail(ErrorCode::kUnavailable, fmt::format("{} does not tell 'Threads'", kStatus));
  }
  return static_cast<int>(*threads);
}

}  // namespace assay
