#include "assay/record/revision_build.h"

#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"

namespace assay {

std::string RevisionBuild::id() const { return digest_of_json(*this); }

ASSAY_DEFINE_JSON(RevisionBuild, repository, revision, environment, engine, label, key, outcome,
                  reason, tools, seconds, output_digest, log, same_as, built_unix_ns)

}  // namespace assay
