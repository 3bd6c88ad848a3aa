#include "assay/record/summary.h"

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/unfinished.h"

namespace assay {

bool has_comparable_time(const CaseSummary& cell) {
  const auto steady = cell.metrics.find("steady_ns");
  // A refused pass in addition to the timing does not make the time worse.
  const bool is_measured =
      cell.outcome == Outcome::kCompleted || (is_refusal(cell.outcome) && !is_unfinished(cell));
  return is_measured && cell.timing != Timing::kEmulated && steady != cell.metrics.end() &&
         steady->second.special.empty();
}

ASSAY_DEFINE_JSON(GateResult, metric, bound, is_met, is_undecided, text)
ASSAY_DEFINE_JSON(OutputError, output, metrics, bounds)
ASSAY_DEFINE_JSON(AccuracyTable, against, accuracy, reason, outputs, controls, differing_elements)
ASSAY_DEFINE_JSON(Disturbance, flag, value, text)
ASSAY_DEFINE_JSON(LaunchSeries, launch, index, warmup_iterations, warmup, first, execute_ns,
                  median_ns, stopped_by, before, after, disturbances, traces)
ASSAY_DEFINE_JSON(LeakFinding, cycle, source, cycles, bytes_per_cycle, verdict, text)
ASSAY_DEFINE_JSON(CaseSummary, case_key, label, model, recipe, engine, options, shapes, device,
                  identity, subject, outcome, stage, reason_code, text, accuracy, timing,
                  delegation, verdict, metrics, accuracy_tables, attribution, gates, launches,
                  memory, leaks, profile, breakdown, instructions, manifest, effective_options,
                  notes, warnings, reproduce, last_words)
ASSAY_DEFINE_JSON(PairPoint, pair, phase, a, b, is_replaced, is_disturbed)
ASSAY_DEFINE_JSON(ComparisonSummary, comparison, pairs)
ASSAY_DEFINE_JSON(RunSummary, run, environment, devices, calibration, baseline, cases, trade_offs,
                  comparisons)

}  // namespace assay
