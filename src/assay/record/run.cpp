#include "assay/record/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"

namespace assay {
namespace {

/// "frequency max, reboot (before_run true, wait 5min)".
std::string text_of_object(const Json& object) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      parts.push_back(fmt::format("{} ({})", key, text_of_object(value)));
    } else {
      parts.push_back(fmt::format("{} {}", key, unquoted_text(value)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string text_of_detail(const Environment& environment, std::string_view name) {
  const auto& details = environment.details;
  const auto found = details.is_object() ? details.find(name) : details.end();
  return found != details.end() && found->is_object() ? text_of_object(*found) : "";
}

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
