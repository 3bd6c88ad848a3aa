#include "assay/record/spawn.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(SpawnLimits, wall_ns, memory_bytes, output_bytes)
ASSAY_DEFINE_JSON(SpawnRequest, argv, env, cpus, limits)
ASSAY_DEFINE_JSON(SpawnResult, end, before, after)

}  // namespace assay
