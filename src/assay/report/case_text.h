#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/summary.h"
#include "assay/record/trade_off.h"
#include "assay/report/text_table.h"

/// A case in words and cells, the same in every text format.
namespace assay::report {

/// "✓", "✗", "?", "–".
std::string_view mark_of(Verdict verdict);

/// Why the verdict is not pass, in a word or two: "crashed", "accuracy", "gate", "vacuous",
/// "unsupported"; of a pass what its times are, "unsteady" or "emulated"; empty for a plain one.
std::string cause_of(const CaseSummary& cell);

/// "pass", "fail: crashed", "skipped: unsupported".
std::string result_of(const CaseSummary& cell);

/// "mobilenet_v2 executorch/xnnpack-int8 threads=1".
std::string title_of(const CaseSummary& cell);

/// Everything that keeps the case from a plain pass, one sentence each: what happened at which
/// stage, the last words, what disagreed with a reference, the gates that broke.
std::vector<std::string> findings_of(const CaseSummary& cell);

/// The metric, or null when it was not measured.
const Estimate* find_estimate(const CaseSummary& cell, std::string_view name);

/// The metrics that the programs of the cases define, by name, with the first estimate of each.
std::map<std::string, const Estimate*> program_metrics_of(const std::vector<CaseSummary>& cases);

/// The metrics of the cases for stages of loading that engines name: they have a definition and no
/// row in metric_definitions().
std::set<std::string> load_stages_of(const std::vector<CaseSummary>& cases);

/// The worst over the outputs of the table against that reference, by the metric's sense; null when
/// there is none. NaN is worst of all.
const Metric* find_worst(const CaseSummary& cell, std::string_view against,
                         std::string_view metric);

/// "12.8", or "12.8 (≥ 8)" where a bound decided over that metric of the output.
std::string text_of_error(const OutputError& output, std::string_view metric);

/// The output with the worst value, as `find_worst`; null when there is none.
const OutputError* find_worst_output(const CaseSummary& cell, std::string_view against,
                                     std::string_view metric);

/// {"float32.sqnr_db", ">=8"}: each bound that decided, by kind of reference and metric, once: that
/// of the output with the strictest.
std::map<std::string, std::string> decisive_bounds(const CaseSummary& cell);

/// "≥ 8", "≤ 0.001": a limit in the metric's sense.
std::string text_of_limit(std::string_view metric, double limit);

/// "mobilenet_v2: fastest that keeps accuracy: …".
std::string line_from_trade_off(const TradeOff& trade_off);

/// "2 pass, 1 fail", in the order of the verdicts; verdicts that no case has are left out.
std::string tally_of(const std::vector<CaseSummary>& cases);

/// "2026-01-31T09:05:00Z, 4.2 min, seed 42" and what else is known of the run as a whole.
std::string when_of(const Run& run);

/// "desk: AMD EPYC 7B13, 2 CPUs, 25.3 GB, Linux 6.1.0, kvm", and that it is an emulator; the name
/// of the device where it has one.
std::string machine_of(const Run& run, const Environment& environment);

/// A text as machine_of() for each device of the run; none where nothing is known.
std::vector<std::string> machines_of(const RunSummary& summary);

/// The machine that the case ran on.
const Environment& environment_of(const RunSummary& summary, const CaseSummary& cell);

/// The main table, a row a case, models together; `common` takes what all rows share ("engine
/// executorch@1.5.1") and therefore is no column.
TextTable case_table(const RunSummary& summary, std::vector<std::string>& common);

/// Errors of each output against one kind of reference; a row an output. `is_brief`: only the
/// metrics that a bound decides over, SQNR, the cosine, top-1 and counts that are not zero.
TextTable accuracy_table(const AccuracyTable& table, bool is_brief = false);

}  // namespace assay::report
