#include "assay/site/index_rows.h"

#include <nlohmann/json.hpp>

#include "assay/base/json.h"

namespace assay::site {

ASSAY_DEFINE_JSON(RunRow, id, purpose, verb, name, state, started_unix_ns, finished_unix_ns, cases,
                  launches, labels, models, recipes, engines, devices, verdicts, overview, problem)
ASSAY_DEFINE_JSON(CaseRow, run, started_unix_ns, model_ref, device_class, summary)
ASSAY_DEFINE_JSON(ComparisonRow, run, started_unix_ns, comparison)
ASSAY_DEFINE_JSON(ConformRow, run, started_unix_ns, suite, recipe, engine, options, device_class,
                  counts, verdicts, operators)
ASSAY_DEFINE_JSON(MachineRow, device, environment)
ASSAY_DEFINE_JSON(CasePoint, run, started_unix_ns, engine, device, verdict, value, low, high)

}  // namespace assay::site
