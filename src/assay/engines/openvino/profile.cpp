#include "assay/engines/openvino/profile.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <openvino/runtime/profiling_info.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/engine/session.h"
#include "assay/record/launch.h"

namespace assay::openvino {
namespace {

constexpr std::int64_t kNsPerUs = 1000;

constexpr std::string_view kFused = "undef";  ///< Kernel of what became part of another operator.

/// "Convolution (F32) brgconv_avx512" of type Convolution that runs as brgconv_avx512_f32: element
/// types in parentheses and capitals, as other engines' operators have them.
std::string shown_name(const ov::ProfilingInfo& info) {
  const std::string_view kernel = info.exec_type;
  const auto underscore = kernel.rfind('_');
  if (underscore == std::string_view::npos) {
    return fmt::format("{} {}", info.node_type, kernel);
  }
  std::string type(kernel.substr(underscore + 1));
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format("{} ({}) {}", info.node_type, type, kernel.substr(0, underscore));
}

std::int64_t total_us(const ProfileState& state, std::size_t index) {
  return index < state.operators.size()
             ? state.operators[index].real_time.count() * state.inferences
             : 0;
}

/// Both means are rounded down, so that a difference may come out slightly negative.
std::int64_t between_us(const ProfileState& before, const ProfileState& after, std::size_t index) {
  return std::max<std::int64_t>(0, total_us(after, index) - total_us(before, index));
}

ProfileEvent method_event(std::span<const ExecutedSpan> executed) {
  ProfileEvent event{.name = "infer", .kind = "method"};
  std::vector<std::int64_t> durations;
  for (const auto& span : executed) {
    durations.push_back(span.duration_ns);
    event.total_ns += span.duration_ns;
  }
  event.count = static_cast<std::int64_t>(durations.size());
  if (!durations.empty()) {
    std::ranges::sort(durations);
    event.min_ns = durations.front();
    event.median_ns = durations[durations.size() / 2];
  }
  return event;
}

ProfileEvent operator_event(const ov::ProfilingInfo& info, int instruction, std::int64_t total_ns,
                            std::int64_t count) {
  const auto mean_ns = total_ns / count;
  return {.name = shown_name(info),
          .kind = "operator",
          .instruction = instruction,
          .count = count,
          .total_ns = total_ns,
          .min_ns = mean_ns,
          .median_ns = mean_ns};
}

void add_spans(std::span<const ExecutedSpan> executed, ProfileReport& report) {
  const auto most = std::min<std::size_t>(executed.size(), Profiler::kMostSpanIterations);
  for (std::size_t i = 0; i < most; ++i) {
    report.spans.push_back({.iteration = static_cast<int>(i),
                            .start_ns = executed[i].start_ns,
                            .duration_ns = executed[i].duration_ns});
  }
}

}  // namespace

ProfileReport profile_between(const ProfileState& before, const ProfileState& after,
                              std::span<const ExecutedSpan> executed) {
  ProfileReport report{.iterations = static_cast<int>(executed.size())};
  report.events.push_back(method_event(executed));
  report.method_median_ns = report.events.front().median_ns;
  add_spans(executed, report);
  const auto count = report.events.front().count;
  int fused = 0;
  int untold = 0;
  for (std::size_t i = 0; count > 0 && i < after.operators.size(); ++i) {
    const auto us = between_us(before, after, i);
    if (us == 0) {
      ++(after.operators[i].exec_type == kFused ? fused : untold);
      continue;
    }
    report.events.push_back(
        operator_event(after.operators[i], static_cast<int>(i), us * kNsPerUs, count));
  }
  report.notes.emplace_back(
      "OpenVINO tells the mean of an operator over all inferences, in whole microseconds rounded "
      "down: it stands for the median, and what the rounding cuts off is outside any operator");
  report.notes.emplace_back("OpenVINO does not tell when an operator ran: the trace has none");
  if (fused + untold > 0) {
    report.notes.push_back(fmt::format(
        "of {} operators {} are fused into others, and {} took under a microsecond: they have no "
        "time of their own",
        after.operators.size(), fused, untold));
  }
  return report;
}

}  // namespace assay::openvino
