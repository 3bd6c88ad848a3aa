#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/spec/spec.h"

namespace assay {

/// One model with one binding of its inputs, files digested.
struct BoundModel {
  ModelReference model;
  InputSet inputs;
  InputSet calibration;
  std::string expected_file;
  std::string expected_sha256;
  std::string short_name;
  std::optional<std::string> program_format;
};

/// A binding without a model: the random inputs and calibration that the spec asks for.
BoundModel unbound_model(const Spec& spec);

/// The models of a spec, each once for every binding of its inputs, by names that tell them apart.
/// Errors: kNotFound, kInvalidArgument for a file that is not there, is another one than the spec
/// says, or does not take what it is given.
Result<std::vector<BoundModel>> bind_models(const Spec& spec);

}  // namespace assay
