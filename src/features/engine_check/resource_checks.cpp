// Checks of streams, memory, and of loading again and again.
#include "features/engine_check/checks.h"
#include "features/engine_check/conversation.h"
#include "features/engine_check/leak_judgement.h"
#include "features/engine_check/thread_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/launch.h"
#include "assay/record/summary.h"
#include "assay/summary/leaks.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"
#include "assay/wire/runner_environment.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 5> kStages = {"start", "loaded", "first", "steady",
                                                     "unloaded"};

std::map<std::string, std::string> counting_malloc() {
  return {{std::string(wire::kCountAllocations), "1"}};
}

Result<Found> runs_streams(CheckContext& context) {
  const MeasurePlan plan{.warmup_iterations = 2, .iterations = 20, .streams = 2};
  ASSAY_ASSIGN_OR_RETURN(const auto talk, context.interviewer.ask({context.interviewer.load_frame(),
                                                                   measure_frame(plan)}));
  const auto measured = talk.body<Measurement>(1);
  if (!measured) {
    return measured.error().code == ErrorCode::kUnsupported
               ? skipped("it refuses a second session: " + measured.error().message)
               : failed(measured.error().message);
  }
  return passed(fmt::format("{} inferences by two sessions while one did {}", measured->inferences,
                            measured->iterations));
}

wire::Frame memory_frame(int leak_loads, std::int64_t budget_ns) {
  return wire::frame_of(wire::MessageType::kMemory, 0,
                        wire::Observe{.inputs = {.is_generated = true},
                                      .iterations = 5,
                                      .time_budget_ns = budget_ns,
                                      .leak_loads = leak_loads});
}

Result<Found> reports_memory(CheckContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const auto talk, context.interviewer.ask({context.interviewer.load_frame(),
                                                                   memory_frame(0, 0)},
                                                                  counting_malloc()));
  const auto report = talk.body<MemoryReport>(1);
  if (!report) {
    return failed(report.error().message);
  }
  for (const auto name : kStages) {
    const auto stage = std::ranges::find(report->stages, name, &MemoryStage::name);
    if (stage == report->stages.end() || stage->rss_bytes <= 0) {
      return failed(fmt::format("no memory at stage '{}'", name));
    }
  }
  const auto steady = std::ranges::find(report->stages, "steady", &MemoryStage::name);
  return passed(
      fmt::format("{:.1f} MB when steady; {}", static_cast<double>(steady->rss_bytes) / 1e6,
                  report->allocations_unavailable.empty() ? "malloc is counted"
                                                          : report->allocations_unavailable));
}

/// Has one process load again and again.
Result<Conversation> ask_to_load_again(CheckContext& context) {
  const auto& request = context.interviewer.request();
  return context.interviewer.ask(
      {context.interviewer.load_frame(), memory_frame(request.loads, request.leak_budget_ns)},
      counting_malloc());
}

Result<Found> survives_loading_again(CheckContext& context) {
  if (context.interviewer.request().loads == 0) {
    return skipped("not asked for");
  }
  std::vector<LeakFinding> processes;
  std::optional<Found> found;
  while (!found) {
    ASSAY_ASSIGN_OR_RETURN(const auto talk, ask_to_load_again(context));
    const auto report = talk.body<MemoryReport>(1);
    if (!report) {
      return failed(report.error().message);
    }
    const auto leaks = find_leaks(*report);
    const auto* leak = find_deciding_leak(leaks, "load");
    if (leak == nullptr) {
      return failed("there are too few loads to tell");
    }
    processes.push_back(*leak);
    found = judge_leaks(processes);
  }
  return *std::move(found);
}

constexpr std::array<Check, 4> kResourceChecks = {{
    {"honours_threads", honours_threads},
    {"runs_streams", runs_streams},
    {"reports_memory", reports_memory},
    {"survives_loading_again", survives_loading_again},
}};

}  // namespace

std::span<const Check> resource_checks() { return kResourceChecks; }

}  // namespace assay
