#include "assay/record/spawn.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(SpawnLimits, wall_ns, memory_bytes, output_bytes)
ASSAY_DEFINE_JSON(Companion, argv, input_file, sandbox)
ASSAY_DEFINE_JSON(Surroundings, files, page_cache, cool_below_celsius, cool_timeout_ns, companions)
ASSAY_DEFINE_JSON(SpawnRequest, argv, env, cpus, limits, surroundings, sandbox, trace_period_ns)
ASSAY_DEFINE_JSON(SpawnResult, end, before, after, traces, companion_failure)

}  // namespace assay
