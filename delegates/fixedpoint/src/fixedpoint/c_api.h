#pragma once

#include <stddef.h>
#include <stdint.h>

/// The runtime without ExecuTorch, for tests and for programs of other languages.
///
/// Functions that can fail return null or a nonzero number and write a sentence into `error`
/// (ended by 0, cut to `error_bytes`).
#ifdef __cplusplus
extern "C" {
#endif

typedef struct fixedpoint_program fixedpoint_program;  // NOLINT(readability-identifier-naming): C
/// Called after each operation with its position and the bytes that it made.
typedef void (*fixedpoint_observer)(void* context, uint32_t operation, const void* made,
                                    size_t bytes);

/// Copies the blob. `isa` is a name of `fixedpoint_isa_names`; empty: the fastest that runs here.
fixedpoint_program* fixedpoint_open(const void* blob, size_t bytes, const char* isa, char* error,
                                    size_t error_bytes);
/// `inputs` and `outputs`: one pointer each, of the sizes that the program was lowered with.
/// `observer` may be null. Not for two threads at a time. Fails, and computes nothing, if an input
/// holds an index that is no row of an embedding's table; returns 0 otherwise.
int fixedpoint_execute(fixedpoint_program* program, const void* const* inputs, void* const* outputs,
                       fixedpoint_observer observer, void* context, char* error,
                       size_t error_bytes);
void fixedpoint_close(fixedpoint_program* program);
/// Names of the instruction sets that run here, separated by commas, the fastest first.
const char* fixedpoint_isa_names(void);

#ifdef __cplusplus
}
#endif
