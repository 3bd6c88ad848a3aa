#include "assay/report/testing/sample_conformance.h"

#include <limits>
#include <string>

#include "assay/record/axes.h"
#include "assay/record/conformance.h"
#include "assay/record/metric.h"

namespace assay::report {
namespace {

ConformResult result_of(const std::string& name, ConformVerdict verdict,
                        KnownGap known = KnownGap::kNone) {
  return {.name = name,
          .operator_name = name.substr(0, name.find('/')),
          .dtype = "float32",
          .shape_class = "odd",
          .values = "normal",
          .recipe = "executorch/portable",
          .engine = "executorch@1",
          .case_key = "key-of-" + name,
          .verdict = verdict,
          .stage = Stage::kDone,
          .text = "output 0: <wrong> & \"worse\"",
          .delegation = Delegation::kPartial,
          .nodes_delegated = 3,
          .nodes_not_delegated = 1,
          .known = known,
          .command = "assay eval aten:x --args '{\"a\":1}'"};
}

}  // namespace

ConformReport sample_conformance() {
  ConformReport report;
  report.run = {.id = "run-2", .purpose = "conform", .started_unix_ns = 1'700'000'000'000'000'000};
  report.environment.cpu_model = "Test CPU";
  report.suite = "operators";
  report.tier = "quick";
  report.results = {
      result_of("aten.add/float32/0", ConformVerdict::kPass),
      result_of("aten.add/float32/1", ConformVerdict::kFailNumeric, KnownGap::kNewFailure),
      result_of("aten.mul/float32/0", ConformVerdict::kCrashed, KnownGap::kKnownFailure),
      result_of("aten.sub/float32/0", ConformVerdict::kPass, KnownGap::kUnexpectedPass),
      result_of("aten.fft/float32/0", ConformVerdict::kVacuous, KnownGap::kNewFailure),
      result_of("aten.div/float32/0", ConformVerdict::kNotRun),
  };
  report.results[2].known_reason = "a null pointer";
  report.results[2].last_words = "\x1b[31mAborted";
  report.results[0].was_in_joint = ConformVerdict::kVacuous;
  report.results[1].error_bound_ratio =
      make_metric("error_bound_ratio", std::numeric_limits<double>::infinity());
  report.coverage = {{"aten.add", 2, ""}, {"aten.rfft", 0, "complex"}, {"aten.cfft", 0, "complex"}};
  report.stages = {{"artifacts", 8.0, 4}, {"evaluate", 1.0, 4}};
  report.seconds = 10;
  report.joint_programs = 3;
  report.alone_programs = 1;
  report.earlier_run = "run-1";
  report.results_compared = 4;
  report.results_only_now = 1;
  report.results_only_earlier = 2;
  report.changes = {{"aten.add/float32/1", "executorch/portable", "", ConformVerdict::kPass,
                     ConformVerdict::kFailNumeric},
                    {"aten.sub/float32/0", "executorch/portable", "", ConformVerdict::kCrashed,
                     ConformVerdict::kPass}};
  report.stale = {{"executorch/portable", "aten.sub/float32/0", "it passes"}};
  return report;
}

}  // namespace assay::report
