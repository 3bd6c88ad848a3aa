#pragma once

#include "assay/record/conclusion.h"
#include "assay/record/launch.h"
#include "assay/wire/frame.h"

namespace assay {

/// Names why a runner ended, from how its process ended and the frames it had sent by then.
///
/// Assay's own actions (deadline, limits) come first; then an error that was its last answer; then
/// a signal; then what is wrong with its answers; then its exit code. A runner that exits with 0
/// and said bye has completed, whatever single requests were answered with errors on the way. The
/// stage is that of the error, else the last one that it told, else `kStart`.
///
/// The reason code is "deadline", "out_of_memory", "output_limit", the name of a signal ("SIGSEGV")
/// or of an ErrorCode ("not_found"), "garbage_on_wire", "truncated_answer", "exit_code_3" or
/// "exited_early". The text has the last line of its stderr.
Conclusion find_exit_cause(const ProcessEnd& end, const wire::FrameSequence& answers);

}  // namespace assay
