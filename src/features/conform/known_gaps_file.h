#pragma once

#include "features/conform/known_gaps.h"

#include <filesystem>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// "executorch-xnnpack-fp32.json" for "executorch/xnnpack-fp32".
std::string known_gaps_file_name(std::string_view recipe);

/// Reads and checks the file of a recipe; empty lists if there is none. Errors: kInvalidArgument
/// naming each place, with did-you-mean for an unknown key or verdict.
Result<KnownGaps> read_known_gaps(const std::filesystem::path& folder, const std::string& recipe);

/// Reads known gaps from a document (schema assay/known_gaps/1). `origin` opens messages.
Result<KnownGaps> known_gaps_from_json(const Json& document, std::string_view origin);

Json document_from_known_gaps(const KnownGaps& gaps);

/// Writes the lists, an entry a line, in a stable order. Errors: kUnavailable.
Status write_known_gaps(const std::filesystem::path& folder, const KnownGaps& gaps);

}  // namespace assay
