#pragma once

#include "assay/device/malloc_reader.h"
#include "assay/engine/engine.h"

namespace assay {

/// The whole of a runner process: `int main(argc, argv) { MyEngine e; return run_runner(e, …); }`.
/// `malloc`: how the memory pass reads what malloc handed out; counted_malloc() in a program of our
/// own.
///
/// First of all it keeps a copy of stdout for the wire and points stdout at stderr, and likewise
/// keeps stdin and points it at /dev/null, because libraries print and read.
///
///     runner                        frames from stdin, answers to stdout, until bye or the end
///     runner --job IN --out OUT     the same from and to files
///     runner --describe             the engine's description as JSON on stdout
///
/// Nothing thrown escapes. The environment variable ASSAY_WIRE_FD is set to the wire's descriptor
/// (for fault injection; a well-behaved engine leaves it alone).
/// Returns the exit code: 0 after bye, a clean end of input or --describe; 2 for wrong arguments;
/// 3 when the wire broke or a file cannot be opened; 4 for a bug of ours.
int run_runner(Engine& engine, int argc, char** argv, const MallocReader& malloc);

}  // namespace assay
