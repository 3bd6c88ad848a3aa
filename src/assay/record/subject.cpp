#include "assay/record/subject.h"

#include <algorithm>
#include <string>

#include "assay/base/json.h"

namespace assay {

std::string Artifact::digest() const {
  auto sorted = files;
  std::ranges::sort(sorted, {}, &ArtifactFile::name);
  Json digests = Json::array();
  for (const auto& file : sorted) {
    digests.push_back({file.name, file.sha256});
  }
  return digest_of_json(digests);
}

std::string Artifact::id() const {
  return digest_of_json(Json::array({key, folder, entry, files, manifest}));
}

std::string subject_key(const Subject& subject) { return digest_of_json(subject); }

ASSAY_DEFINE_JSON(ArtifactFile, name, role, bytes, sha256)
ASSAY_DEFINE_JSON(Artifact, key, folder, entry, files, manifest)
ASSAY_DEFINE_JSON(EngineBuild, name, label, runner, build_id, details)
ASSAY_DEFINE_JSON(Subject, engine_build, engine_build_id, toolchain_id, artifact_digest)

}  // namespace assay
