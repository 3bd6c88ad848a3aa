#include "features/compare/stored.h"

#include "features/compare/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"
#include "assay/record/stored_comparison.h"
#include "assay/stats/multiplicity.h"
#include "assay/stats/quantile.h"
#include "assay/stats/rank_sum.h"
#include "assay/store/case_attempts.h"
#include "assay/store/result_store.h"
#include "assay/summary/reduction.h"

namespace assay {
namespace {

constexpr double kStoredAlpha = 0.05;
constexpr double kStoredFalseDiscoveryRate = 0.05;
/// The exact test is cubic in them; more tell nothing new.
constexpr std::size_t kMostLaunches = 40;

struct MeasuredCase {
  std::string label;
  std::vector<double> values;  ///< The metric, one value a launch.
};

using MeasuredCases = std::map<CaseId, MeasuredCase>;

/// The metric in question; of a program's own one, what the launches tell of it.
struct AskedMetric {
  std::string name;
  Estimate told;  ///< Its unit and direction.

  [[nodiscard]] MetricDefinition definition() const { return definition_of(name, told); }

  void learn(const Launch& launch) {
    if (!told.unit.empty() || !launch.measurement || !name.starts_with(kProgramPrefix)) {
      return;
    }
    const auto& metrics = launch.measurement->metrics;
    const auto own =
        std::ranges::find(metrics, name.substr(kProgramPrefix.size()), &ProgramMetric::name);
    if (own != metrics.end()) {
      told.unit = own->unit;
      told.better = own->better;
    }
  }
};

Status add_launches(ResultStore& store, const Attempt& attempt, AskedMetric& metric,
                    std::vector<double>& values) {
  ASSAY_ASSIGN_OR_RETURN(const auto launches, store.launches_of_attempt(attempt.id));
  for (const auto& launch : launches) {
    if (values.size() == kMostLaunches) {
      break;
    }
    metric.learn(launch);
    const auto reduced = reduce_launch(launch);
    const auto value = reduced.find(metric.name);
    if (value != reduced.end() && std::isfinite(value->second)) {
      values.push_back(value->second);
    }
  }
  return {};
}

/// The cases that have the metric. Engine builds and devices of one case key stay apart.
Result<MeasuredCases> measured_cases(ResultStore& store, const Run& run, AskedMetric& metric) {
  MeasuredCases measured;
  ASSAY_ASSIGN_OR_RETURN(const auto cases, store.cases_of_run(run.id));
  ASSAY_ASSIGN_OR_RETURN(const auto all, store.attempts_of_run(run.id));
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, attempts_by_case(store, cases, all));
  for (const auto& cell : cases) {
    const auto id = case_id_from(cell);
    const auto own = attempts.find(id);
    MeasuredCase one{.label = label_of(cell), .values = {}};
    for (const auto& attempt : own == attempts.end() ? std::vector<Attempt>() : own->second) {
      if (attempt.pass == Pass::kTiming) {
        ASSAY_RETURN_IF_ERROR(add_launches(store, attempt, metric, one.values));
      }
    }
    if (!one.values.empty()) {
      measured[id] = std::move(one);
    }
  }
  return measured;
}

/// Also those without the metric: a run is on several builds before each was measured.
Result<std::set<CaseId>> ids_of(ResultStore& store, const Run& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto cases, store.cases_of_run(run.id));
  std::set<CaseId> ids;
  std::ranges::transform(cases, std::inserter(ids, ids.end()),
                         [](const Case& cell) { return case_id_from(cell); });
  return ids;
}

/// The cases by what both runs call them, with labels that say what tells them apart.
MeasuredCases by_shared_id(MeasuredCases cases, const MatchedIds& matched) {
  MeasuredCases shared;
  for (auto& [id, measured] : cases) {
    const auto common = matched.shared(id);
    for (const auto& [word, part] :
         {std::pair(" on ", common.device), std::pair(" ", common.engine_build)}) {
      measured.label += part.empty() ? "" : word + part;
    }
    shared.emplace(common, std::move(measured));
  }
  return shared;
}

StoredChange change_between(const MeasuredCase& a, const MeasuredCase& b,
                            const MetricDefinition& definition) {
  Pairs::Sides sides{.a = a.values, .b = b.values};
  sides.put_scale(definition, {.a = a.values, .b = b.values});
  const auto shift = stats::unpaired_shift(sides.a, sides.b, kStoredAlpha);
  const bool is_share = sides.scale == MetricScale::kDifference && sides.is_relative;
  return {.label = a.label,
          .a_launches = static_cast<int>(sides.a.size()),
          .b_launches = static_cast<int>(sides.b.size()),
          .a_median = sides.value_of(stats::median(sides.a)),
          .b_median = sides.value_of(stats::median(sides.b)),
          .ratio = sides.ratio_of(shift.estimate).value_or(0),
          .scale = sides.scale,
          .base = is_share ? sides.size : 0,
          .low = sides.ratio_of(sides.sign > 0 ? shift.low : shift.high),
          .high = sides.ratio_of(sides.sign > 0 ? shift.high : shift.low),
          .confidence = shift.confidence,
          .p_value = stats::rank_sum_p_value(sides.a, sides.b)};
}

/// The size of a change, alike for a rate and the time that is its reciprocal.
double size_of(const StoredChange& change) {
  return std::abs(change.scale == MetricScale::kRatio ? std::log1p(change.ratio) : change.ratio);
}

void nominate(std::vector<StoredChange>& changes) {
  std::vector<double> p_values;
  p_values.reserve(changes.size());
  for (const auto& change : changes) {
    p_values.push_back(change.p_value);
  }
  const auto is_found = stats::benjamini_hochberg(p_values, kStoredFalseDiscoveryRate);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i].is_nominated = is_found[i];
  }
  std::ranges::sort(changes, [](const StoredChange& a, const StoredChange& b) {
    return std::pair(-size_of(a), std::string_view(a.label)) <
           std::pair(-size_of(b), std::string_view(b.label));
  });
}

/// The fewest launches a side at which the test can say anything at all: below four against four
/// its smallest p is above 0.028, and of many cases the correction asks for less.
void note_few_launches(StoredComparison& comparison) {
  constexpr int kFewest = 4;
  const bool is_few = std::ranges::any_of(comparison.changes, [](const StoredChange& change) {
    return std::min(change.a_launches, change.b_launches) < kFewest;
  });
  if (is_few) {
    comparison.notes.emplace_back(
        "fewer than four launches a side cannot show a change of any size; use `assay bench "
        "--launches 6` or more");
  }
}

}  // namespace

Result<StoredComparison> compare_stored_runs(ResultStore& store, std::string_view a,
                                             std::string_view b, std::string_view metric) {
  ASSAY_ASSIGN_OR_RETURN(const auto a_run, store.get_run(a));
  ASSAY_ASSIGN_OR_RETURN(const auto b_run, store.get_run(b));
  AskedMetric asked{.name = std::string(metric), .told = {}};
  ASSAY_ASSIGN_OR_RETURN(auto a_measured, measured_cases(store, a_run, asked));
  ASSAY_ASSIGN_OR_RETURN(auto b_measured, measured_cases(store, b_run, asked));
  const auto definition = asked.definition();
  ASSAY_ASSIGN_OR_RETURN(const auto a_ids, ids_of(store, a_run));
  ASSAY_ASSIGN_OR_RETURN(const auto b_ids, ids_of(store, b_run));
  const MatchedIds matched(a_ids, b_ids);
  const auto a_cases = by_shared_id(std::move(a_measured), matched);
  const auto b_cases = by_shared_id(std::move(b_measured), matched);
  StoredComparison comparison{.a_run = a_run.id,
                              .b_run = b_run.id,
                              .metric = std::string(metric),
                              .unit = std::string(definition.unit),
                              .better = definition.better};
  for (const auto& [id, measured] : a_cases) {
    const auto other = b_cases.find(id);
    if (other == b_cases.end()) {
      ++comparison.only_in_a;
    } else {
      comparison.changes.push_back(change_between(measured, other->second, definition));
    }
  }
  const auto shared = comparison.changes.size();
  comparison.only_in_b = static_cast<int>(b_cases.size() - shared);
  if (shared == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the runs {} and {} have no timed case in common", a_run.id, b_run.id));
  }
  nominate(comparison.changes);
  if (a_run.environment != b_run.environment) {
    comparison.notes.emplace_back("the two runs have different environments");
  }
  note_few_launches(comparison);
  return comparison;
}

}  // namespace assay
