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

}  // namespace assay
