#pragma once

#include <expected>
#include <utility>

#include "assay/base/result.h"

namespace assay {

/// A failure to bind, execute or fetch. What an engine refuses, it refuses when it loads a program:
/// "not supported" in the middle of an inference is a fault, whatever the engine calls it.
inline std::unexpected<Error> fail_inference(Error error) {
  if (error.code == ErrorCode::kUnsupported) {
    error.code = ErrorCode::kEngine;
  }
  return std::unexpected(std::move(error));
}

}  // namespace assay
