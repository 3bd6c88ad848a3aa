#include "assay/wire/messages.h"

#include "assay/base/error_code_names.h"

namespace assay::wire {

ASSAY_DEFINE_JSON(Hello, protocol_min, protocol_max, program, engine, version, build_id, target,
                  clock_resolution_ns)
ASSAY_DEFINE_JSON(Load, entry, data, method, options, libraries)
ASSAY_DEFINE_JSON(InputSource, file, in_blob, is_generated, seed, samples)
ASSAY_DEFINE_JSON(Measure, inputs, plan)
ASSAY_DEFINE_JSON(Infer, inputs, repeat, return_inputs)
ASSAY_DEFINE_JSON(InferReply, samples, repeat, differing_elements)
ASSAY_DEFINE_JSON(Observe, inputs, iterations)
ASSAY_DEFINE_JSON(StageNote, stage)
ASSAY_DEFINE_JSON(ErrorBody, code, stage, engine_code, message)

}  // namespace assay::wire
