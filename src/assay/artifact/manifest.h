#pragma once

#include <filesystem>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {

/// The artifact that a manifest (docs/contracts/aot.md) describes. What only lowers has no entry
/// and no files.
///
/// Checked: that there is all that Assay reads of a manifest, each of its type, and that the files
/// lie in `folder` itself. Not checked: the files; see ArtifactCache.
/// Errors: kCorrupt, naming the place in the manifest.
Result<Artifact> artifact_from_manifest(std::string_view key, const std::filesystem::path& folder,
                                        Json manifest);

/// Reads the document of a reference likewise.
Result<Reference> reference_from_document(std::string_view key, const std::filesystem::path& folder,
                                          Json document);

}  // namespace assay
