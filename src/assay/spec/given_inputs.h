#pragma once

#include <string>

#include "assay/base/result.h"
#include "assay/spec/spec.h"

namespace assay {

/// Whether the sizes and shapes that the spec gives a finished program fit what its file says it
/// takes, as far as that can be read without a toolchain: of an ONNX file all of it, of the others
/// that they name no dimension. `where`: the model's place in the spec, in front of an error.
/// Errors: kInvalidArgument with did-you-mean, or with what the program takes.
Status check_given_inputs(const SpecModel& entry, const std::string& where);

}  // namespace assay
