#pragma once

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"

namespace assay {

/// A pipe; neither end is inherited by a program that is executed.
struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;

  /// Errors: kExhausted.
  static Result<Pipe> make();
};

/// Makes `file` the stream `place` of a program that is executed next. A file may already be there,
/// where the stream was closed before, and dup2 would leave it closed by the execution.
/// Async-signal-safe.
void put_stream(int file, int place);

}  // namespace assay
