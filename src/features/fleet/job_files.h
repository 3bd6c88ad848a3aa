#pragma once

#include "features/fleet/artifact_store.h"

#include <set>
#include <string>

#include "assay/artifact/cache.h"
#include "assay/base/result.h"
#include "assay/campaign/preparation.h"

namespace assay {

/// Puts the files of artifacts, references and inputs into the store. `known`: digests that are
/// there for sure; grows. Errors: those of ArtifactStore::put(); kUnsupported for a case that needs
/// files which cannot travel, naming them.
Status put_files(const PreparedCase& prepared, ArtifactStore& store, std::set<std::string>& known);

/// Brings the same files here, into the cache, and points the case to them. Errors: those of
/// ArtifactStore::get(), kUnavailable.
Status get_files(PreparedCase& prepared, ArtifactStore& store, const ArtifactCache& cache);

}  // namespace assay
