#include "assay/campaign/device_descriptions.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/record/subject.h"
#include "assay/remote/device_bundle.h"

namespace assay {
namespace {

constexpr const char* kDescriptionSchema = "assay/device-description/1";

}  // namespace

std::filesystem::path DeviceDescriptions::file_of(const DeviceBundle& bundle) const {
  Json content = {{"environment", environment_id_}, {"argv", bundle.argv}};
  for (const auto& file : bundle.files) {
    content["files"][file.path] = file.sha256;
  }
  return folder_ / fmt::format("{}.json", digest_of_json(content));
}

std::optional<EngineBuild> DeviceDescriptions::find(const DeviceBundle& bundle) const {
  const auto document = read_json_file(file_of(bundle));
  if (!document || !document->is_object() ||
      document->value("schema", Json()) != kDescriptionSchema) {
    return std::nullopt;
  }
  try {
    return document->at("build").get<EngineBuild>();
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void DeviceDescriptions::keep(const DeviceBundle& bundle, const EngineBuild& build) const {
  const Json document = {{"schema", kDescriptionSchema}, {"build", build}};
  if (const auto kept = write_file_atomically(file_of(bundle), document.dump() + "\n"); !kept) {
    log_line(LogLevel::kDebug, kept.error().message);  // It is asked again next time.
  }
}

}  // namespace assay
