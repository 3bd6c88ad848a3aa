#include "assay/record/subject.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/artifact_role.h"

namespace assay {
namespace {

/// A named file may lie anywhere.
std::string identity_of_name(const ArtifactFile& file) {
  const auto slash = file.name.find_last_of('/');
  const bool is_whole = file.role != kNamedRole || slash == std::string::npos;
  return is_whole ? file.name : file.name.substr(slash + 1);
}

}  // namespace

std::string Artifact::digest() const {
  std::vector<std::pair<std::string, std::string>> digests;
  digests.reserve(files.size());
  for (const auto& file : files) {
    digests.emplace_back(identity_of_name(file), file.sha256);
  }
  std::ranges::sort(digests);
  return digest_of_json(Json(digests));
}

std::string Artifact::id() const {
  return digest_of_json(Json::array({key, folder, entry, files, manifest}));
}

std::string subject_key(const Subject& subject) { return digest_of_json(subject); }

ASSAY_DEFINE_JSON(ArtifactFile, name, role, bytes, sha256)
ASSAY_DEFINE_JSON(Artifact, key, folder, entry, files, manifest)
ASSAY_DEFINE_JSON(EngineBuild, name, label, runner, build_id, details, reads)
ASSAY_DEFINE_JSON(Subject, engine_build, engine_build_id, toolchain_id, artifact_digest)

}  // namespace assay
