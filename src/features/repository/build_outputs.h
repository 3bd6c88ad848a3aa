#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/subject.h"

namespace assay {

struct CollectedOutputs {
  std::vector<ArtifactFile> files;  ///< Every file, by its path below the folder.
  std::string digest;               ///< Digest without symbols and debug information.
  std::string fault;                ///< Why they cannot be used; empty: they can.
};

/// Copies outputs, files or folders, from the work folder to the same paths below `folder`. It is a
/// fault of the build when one is missing, leads out of the work folder by a link, or would load
/// libraries from the folder around it, which holds the source as well, where the next build lies.
/// Errors: kExhausted, kUnavailable (cannot be copied).
Result<CollectedOutputs> collect_outputs(const std::map<std::string, std::string>& outputs,
                                         const std::filesystem::path& work,
                                         const std::filesystem::path& folder);

}  // namespace assay
