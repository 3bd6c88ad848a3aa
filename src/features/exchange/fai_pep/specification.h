#pragma once

#include "features/exchange/fai_pep/test_entry.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {

/// Tells whether a document is one of FAI-PEP's: it has "tests" or "benchmarks", and no "schema".
bool is_specification(const Json& document);

/// Reads a document as FAI-PEP does: of a key that an object has twice the last one counts. Errors:
/// kNotFound; kInvalidArgument for what is no JSON, or nested too deeply.
Result<Json> read_document(const std::filesystem::path& path);

/// The tests of a model file, or of all model files of a sequence, in order. The files are read and
/// never written to. Errors: kNotFound; kInvalidArgument with the file and the path of what is
/// wrong in it.
/// Source: FAI-PEP at 7c1a57e, benchmarking/benchmarks/benchmarks.py and frameworks/.
Result<std::vector<TestEntry>> read_specification(const std::filesystem::path& path);

}  // namespace assay::fai_pep
