#pragma once

#include <string>

#include "assay/base/json.h"
#include "assay/record/case.h"

/// Requests to a toolchain's fork server; docs/contracts/aot.md has the fields.
namespace assay {

/// MODEL of a job.
Json model_request(const ModelReference& model);

/// RECIPE of a job: what the toolchain knows of it; identity and tolerance are ours.
Json recipe_request(const Recipe& recipe);

/// A program of the case: job "build". `is_stop_after_lower`: without writing it.
Json build_request(const Case& cell, bool is_stop_after_lower);

/// Inputs of the case with the outputs that its model has by itself: job "reference".
Json reference_request(const Case& cell, const std::string& kind);

/// Inputs of a program that was made elsewhere, from files or by its signature: job "stimulus".
Json stimulus_request(const Case& cell, const std::string& kind);

}  // namespace assay
