#include "assay/record/run.h"

#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"

namespace assay {

std::string environment_key(const Environment& environment) { return digest_of_json(environment); }

std::string Reference::id() const {
  return digest_of_json(Json::array({key, kind, folder, document}));
}

ASSAY_DEFINE_JSON(Environment, id, device_class, cpu_model, cpus, memory_bytes, kernel, os,
                  hypervisor, cpu_flags, details)
ASSAY_DEFINE_JSON(Run, id, purpose, name, labels, seed, argv, spec_digest, spec, environment,
                  started_unix_ns, finished_unix_ns)
ASSAY_DEFINE_JSON(Attempt, id, run, case_key, subject, artifact, device, pass, worker,
                  lease_until_unix_ns, n, is_finished, outcome, stage, reason_code, text)
ASSAY_DEFINE_JSON(Reference, key, kind, folder, document)

}  // namespace assay
