#include "features/compare/calibrate.h"

#include "features/compare/compare.h"
#include "features/compare/comparison_request.h"
#include "features/compare/detectable.h"
#include "features/compare/pairs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/calibration.h"
#include "assay/record/comparison.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/spec/program_files.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"
#include "assay/summary/summarize.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// About a millisecond: half arithmetic, half memory.
constexpr const char* kLoopProgram = R"({"multiply_adds": 500000, "stream_bytes": 8388608})";
constexpr const char* kNullProgram = "{}";

/// Programs of one calibration, which stay as long as it goes on.
struct Workbench {
  TemporaryFolder folder;
  std::string program;
  std::string copy;
  std::string null;
};

/// "net.fake.json" of a path that ends so, because the ending says the format.
std::string copied_name(const stdfs::path& program) {
  return "copy_of_" + program.filename().string();
}

/// All files of the program under `folder`; what is found by the program's name keeps to its new
/// one.
Status copy_program(const stdfs::path& program, const stdfs::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const auto files, find_program_files(program));
  for (const auto& file : files) {
    const stdfs::path name(file.name);
    const bool is_renamed = file.role == "program" || name.stem() == program.stem();
    const auto copy = folder / (is_renamed ? name.parent_path() / copied_name(name) : name);
    std::error_code error;
    stdfs::create_directories(copy.parent_path(), error);
    if (!stdfs::copy_file(program.parent_path() / name, copy, error)) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("cannot copy '{}': {}", (program.parent_path() / name).string(),
                              error.message()));
    }
  }
  return {};
}

Result<Workbench> lay_out_programs(const CalibrationRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::make("assay-calibrate"));
  const auto path = folder.path();
  ASSAY_RETURN_IF_ERROR(write_file_atomically(path / "loop.fake.json", kLoopProgram));
  ASSAY_RETURN_IF_ERROR(write_file_atomically(path / "null.fake.json", kNullProgram));
  const stdfs::path program =
      request.program.empty() ? path / "loop.fake.json" : stdfs::path(request.program);
  if (!find_program_format(program.string())) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is not a finished program; omit it, or build one with `assay aot`",
                    request.program));
  }
  ASSAY_RETURN_IF_ERROR(copy_program(program, path));
  return Workbench{.folder = std::move(folder),
                   .program = stdfs::absolute(program).string(),
                   .copy = (path / copied_name(program)).string(),
                   .null = (path / "null.fake.json").string()};
}

Result<CampaignRequest> request_for(const Json& models, const Json& measure,
                                    const CalibrationRequest& calibration) {
  const Json document = {
      {"schema", "assay/spec/1"}, {"name", "calibrate"}, {"models", models}, {"measure", measure}};
  ASSAY_ASSIGN_OR_RETURN(const auto spec,
                         spec_from_json(document, {.origin = "assay calibrate", .folder = "."}));
  ASSAY_ASSIGN_OR_RETURN(auto request, calibration.plan_campaign(spec));
  request.context.run.purpose = "calibrate";
  request.context.settings.against.clear();
  if (request.cases.size() != models.size()) {
    return fail(ErrorCode::kUnavailable,
                "no installed engine loads this program; `assay doctor` shows what is missing");
  }
  return request;
}

double metric_value(const CaseSummary& cell, const char* metric) {
  const auto found = cell.metrics.find(metric);
  return found == cell.metrics.end() ? 0 : found->second.value;
}

/// The harness alone: a program that does nothing.
Status measure_null(const Workbench& bench, const CalibrationRequest& request,
                    const CampaignTools& tools, Calibration& calibration) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto campaign,
      request_for({bench.null}, {{"launches", 3}, {"iterations", 2000}, {"passes", {"timing"}}},
                  request));
  ASSAY_RETURN_IF_ERROR(run_campaign(campaign, tools));
  ASSAY_ASSIGN_OR_RETURN(const auto summary, summarize_run(tools.store, campaign.context.run, {}));
  const auto& cell = summary.cases.front();
  calibration.null_inference_ns =
      static_cast<std::int64_t>(metric_value(cell, "bind_ns") + metric_value(cell, "steady_ns") +
                                metric_value(cell, "fetch_ns"));
  calibration.launch_overhead_ns =
      static_cast<std::int64_t>(metric_value(cell, "launch_overhead_ns"));
  return {};
}

struct RecordedPairs {
  Pairs pairs;
  std::int64_t wall_ns = 0;  ///< Wall time of all launches.
  std::int64_t clock_step_ns = 0;
};

Result<RecordedPairs> pairs_of_run(ResultStore& store, const std::string& run) {
  RecordedPairs recorded;
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run));
  for (const auto& attempt : attempts) {
    ASSAY_ASSIGN_OR_RETURN(const auto launches, store.launches_of_attempt(attempt.id));
    for (const auto& launch : launches) {
      recorded.pairs.add(launch);
      recorded.wall_ns += launch.end.wall_ns;
      recorded.clock_step_ns = std::max(
          recorded.clock_step_ns, launch.measurement ? launch.measurement->clock_resolution_ns : 0);
    }
  }
  return recorded;
}

/// Compares the program with its copy for the whole budget, and derives what the machine can
/// detect.
Status compare_with_copy(const Workbench& bench, const CalibrationRequest& request,
                         const CampaignTools& tools, Calibration& calibration) {
  const ComparisonPlan plan{.looks = {kMostDrawnPairs},
                            .alpha = {0.05},
                            .budget_ns = request.budget_ns,
                            .has_canary = false};
  ASSAY_ASSIGN_OR_RETURN(const auto campaign, request_for({bench.program, bench.copy},
                                                          {{"passes", {"timing"}}}, request));
  const ComparisonRequest comparison_request{
      .context = campaign.context, .a = campaign.cases.at(0), .b = campaign.cases.at(1)};
  ASSAY_ASSIGN_OR_RETURN(const auto comparison, run_comparison(comparison_request, plan, tools));
  ASSAY_ASSIGN_OR_RETURN(const auto recorded, pairs_of_run(tools.store, campaign.context.run.id));
  const auto sides = recorded.pairs.sides(plan.metric, PairPhase::kSearch);
  if (sides.a.size() < 2 || comparison.metrics.empty()) {
    return fail(ErrorCode::kUnavailable, "nothing was measured: " + comparison.text);
  }
  if (sides.scale != MetricScale::kRatio) {
    return fail(ErrorCode::kUnavailable,
                "some inferences took no time by this machine's clock; give a longer program");
  }
  calibration.run = campaign.context.run.id;
  calibration.program = comparison.a_label;
  calibration.metric = plan.metric;
  calibration.pairs = static_cast<int>(sides.a.size());
  calibration.pairs_disturbed = comparison.pairs_disturbed;
  // The comparison's own time has the tests in it, which a further pair does not cost.
  calibration.pair_ns = std::max<std::int64_t>(recorded.wall_ns / calibration.pairs, 1);
  calibration.difference_ratio = comparison.metrics.front().ratio;
  calibration.p_value = comparison.metrics.front().p_value;
  constexpr auto kBudgets =
      std::to_array<std::int64_t>({10'000'000'000, 60'000'000'000, 600'000'000'000});
  calibration.detectable =
      find_detectable(sides.a, sides.b, calibration.pair_ns, kBudgets, campaign.context.run.seed);
  // Times come in steps of the clock, which can all be the same: nothing smaller shows.
  const double step_ratio = static_cast<double>(recorded.clock_step_ns) /
                            std::max(comparison.metrics.front().a_median, 1.0);
  for (auto& found : calibration.detectable) {
    found.ratio = found.ratio < 0 ? found.ratio : std::max(found.ratio, step_ratio);
  }
  calibration.unix_ns = unix_time_ns();  // Its own runs began before it.
  return tools.store.add_attachment({.owner = campaign.context.environment.id,
                                     .kind = kCalibrationKind,
                                     .content = Json(calibration).dump()});
}

}  // namespace

Result<Calibration> calibrate(const CalibrationRequest& request, const CampaignTools& tools) {
  ASSAY_ASSIGN_OR_RETURN(const auto bench, lay_out_programs(request));
  Calibration calibration;
  ASSAY_RETURN_IF_ERROR(measure_null(bench, request, tools, calibration));
  ASSAY_RETURN_IF_ERROR(compare_with_copy(bench, request, tools, calibration));
  return calibration;
}

}  // namespace assay
