#include "assay/record/profile.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(ProfilePart, name, kind, family, delegate, instruction, position, calls, time_ns,
                  mean_ns, min_ns, share_ratio)
ASSAY_DEFINE_JSON(ProfileGroup, name, calls, time_ns, share_ratio)
ASSAY_DEFINE_JSON(ProfileBreakdown, label, method_ns, iterations, parts, families, places,
                  outside_ns, execute_ns, timed_ns, timed_launches, slowdown_ratio, method_floor_ns,
                  timed_floor_ns, floor_slowdown_ratio, counted_iterations, counters, notes)
ASSAY_DEFINE_JSON(DifferenceRow, name, a_ns, b_ns, difference_ns, share_ratio, cumulative_ratio,
                  a_calls, b_calls)
ASSAY_DEFINE_JSON(OperatorChange, name, a_delegated, b_delegated, a_left, b_left, outside_ns,
                  reason, text)
ASSAY_DEFINE_JSON(ProfileDifference, a_label, b_label, a_ns, b_ns, difference_ns, a_timed_ns,
                  b_timed_ns, parts, families, places, delegation, notes)
ASSAY_DEFINE_JSON(LayerRow, names, time_ns)
ASSAY_DEFINE_JSON(ProfileLayers, labels, rows, sum_ns, fastest_count, fastest_other_ratio,
                  sum_fastest_other_ratio, notes)
ASSAY_DEFINE_JSON(FunctionCost, name, instructions)
ASSAY_DEFINE_JSON(InstructionReport, unavailable, tool, few, many, few_instructions,
                  many_instructions, instructions_per_inference, functions, notes)

}  // namespace assay
