#include "assay/campaign/engine_reference.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/case_launch.h"
#include "assay/campaign/extra_cases.h"
#include "assay/campaign/preparation.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/spec/reference_kind.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kDocument = "reference.json";
constexpr std::string_view kOutputs = "outputs.safetensors";
constexpr std::string_view kLabels = "labels.safetensors";

std::string key_of(const PreparedCase& prepared) {
  const auto& artifact = prepared.artifact;
  Json identity = {{"schema", "assay/engine_reference/1"},
                   {"case", case_key(prepared.cell)},
                   {"build", prepared.build.reference()},
                   {"build_id", prepared.build.build_id},
                   {"artifact", artifact ? artifact->digest() : ""}};
  if (prepared.cell.device != "local") {  // Devices of one class may compute different outputs.
    identity["device"] = prepared.cell.device;
  }
  return digest_of_json(identity);
}

/// Path of the labels of the case's inputs; empty if the toolchain made no inputs for it.
stdfs::path labels_beside(const PreparedCase& prepared) {
  return prepared.references.empty()
             ? stdfs::path()
             : stdfs::path(prepared.references.begin()->second.folder) / kLabels;
}

Result<Json> describe_file(const stdfs::path& path) {
  ASSAY_ASSIGN_OR_RETURN(auto digest, sha256_hex_of_file(path));
  std::error_code ignored;
  return Json{{"name", path.filename().string()},
              {"role", "tensors"},
              {"bytes", static_cast<std::int64_t>(stdfs::file_size(path, ignored))},
              {"sha256", std::move(digest)}};
}

Status copy_labels(const stdfs::path& labels, const stdfs::path& folder, Json& files) {
  if (labels.empty() || !stdfs::exists(labels)) {
    return {};
  }
  std::error_code error;
  stdfs::copy_file(labels, folder / kLabels, error);
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot copy '{}': {}", labels.string(), error.message()));
  }
  ASSAY_ASSIGN_OR_RETURN(auto file, describe_file(folder / kLabels));
  files.push_back(std::move(file));
  return {};
}

/// The model that the program was made from. Its weights may have been drawn by another toolchain,
/// so figures of its outputs identify it.
Json model_of(const PreparedCase& prepared) {
  Json model = {{"ref", prepared.cell.model.ref}};
  const auto manifest = prepared.artifact ? prepared.artifact->manifest : Json();
  if (const Json::json_pointer health("/model/health"); manifest.contains(health)) {
    model["health"] = manifest.at(health);
  }
  return model;
}

/// Digest of the inputs that it was given; null where they are its own.
Json inputs_digest_of(const PreparedCase& prepared) {
  const auto* fed = find_input_reference(prepared);
  return fed == nullptr ? Json() : fed->document.value("inputs_sha256", Json());
}

}  // namespace

Result<Reference> keep_engine_reference(const PreparedCase& prepared,
                                        std::span<const std::byte> outputs,
                                        const ArtifactCache& cache) {
  const auto key = key_of(prepared);
  ASSAY_ASSIGN_OR_RETURN(const auto folder, cache.make_staging_folder(key));
  const std::string_view bytes(reinterpret_cast<const char*>(outputs.data()), outputs.size());
  ASSAY_RETURN_IF_ERROR(write_file_atomically(folder / kOutputs, bytes));
  Json files = Json::array();
  ASSAY_ASSIGN_OR_RETURN(files.emplace_back(), describe_file(folder / kOutputs));
  ASSAY_RETURN_IF_ERROR(copy_labels(labels_beside(prepared), folder, files));
  const Json document = {{"schema", "assay/reference/1"},
                         {"kind", "engine:" + prepared.build.reference()},
                         {"model", model_of(prepared)},
                         {"inputs_sha256", inputs_digest_of(prepared)},
                         {"inputs", prepared.cell.inputs},
                         {"producer",
                          {{"engine_build", prepared.build.reference()},
                           {"engine_build_id", prepared.build.build_id}}},
                         {"files", std::move(files)}};
  ASSAY_RETURN_IF_ERROR(write_file_atomically(folder / kDocument, document.dump(1)));
  ASSAY_ASSIGN_OR_RETURN(const auto adopted, cache.adopt(key, folder, kDocument));
  return cache.read_reference(key, adopted.folder);
}

std::optional<Reference> find_engine_reference(const PreparedCase& prepared,
                                               const ArtifactCache& cache) {
  auto found = cache.find_reference(key_of(prepared));
  return found ? *std::move(found) : std::nullopt;
}

EngineReferences::EngineReferences(std::span<const PreparedCase> prepared,
                                   std::span<const std::string> against,
                                   const std::vector<EngineBuild>& builds) {
  std::map<CaseId, std::size_t> places;
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    places.emplace(case_id_from(prepared[i].cell), i);
  }
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    for (const auto& kind : against) {
      const auto engine = engine_of_kind(kind);
      if (!engine) {
        continue;
      }
      const auto provider = case_id_from(reference_case_of(prepared[i].cell, *engine, builds));
      if (const auto found = places.find(provider); found != places.end()) {
        providers_by_case_[i][kind] = found->second;
        providers_.insert(found->second);
      }
    }
  }
}

std::optional<std::size_t> EngineReferences::find_provider(std::size_t cell,
                                                           const std::string& kind) const {
  const auto kinds = providers_by_case_.find(cell);
  if (kinds == providers_by_case_.end()) {
    return std::nullopt;
  }
  const auto found = kinds->second.find(kind);
  return found == kinds->second.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Reference> EngineReferences::find(std::size_t cell, const std::string& kind) const {
  const auto provider = find_provider(cell, kind);
  const auto found = provider ? references_.find(*provider) : references_.end();
  if (found == references_.end()) {
    return std::nullopt;
  }
  auto reference = found->second;
  reference.kind = kind;
  return reference;
}

}  // namespace assay
