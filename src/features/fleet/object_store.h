#pragma once

#include "features/fleet/artifact_store.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

inline constexpr std::string_view kObjectScheme = "s3://";

/// An object store that speaks S3, by a process `python -m assay.fleet.objects`, which ends with
/// the object. Errors: kUnavailable, with what the process says.
Result<std::unique_ptr<ArtifactStore>> open_object_store(const std::string& reference,
                                                         const std::filesystem::path& python);

/// Removes a file that does not have the digest. Errors: kCorrupt; those of sha256_hex_of_file().
Status check_digest(const std::filesystem::path& file, const std::string& sha256);

}  // namespace assay
