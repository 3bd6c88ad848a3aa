#include "assay/artifact/cache.h"

#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/artifact/manifest.h"
#include "assay/base/claims.h"
#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/spec/reference_kind.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kManifest = "manifest.json";
constexpr std::string_view kReference = "reference.json";

Json model_part(const Case& cell) {
  Json part = identity_of(cell).at("model");
  part["path"] = cell.model.source_sha256.empty() ? cell.model.ref : "";
  if (cell.gives_layers) {
    part["layers"] = true;
  }
  if (!cell.pieces.empty()) {
    part["pieces"] = cell.pieces;
  }
  return part;
}

Json calibration_part(const Case& cell) {
  return cell.recipe.quantization.is_null() ? Json(nullptr) : Json(cell.calibration);
}

Status check_files(const stdfs::path& folder, const Json& document) {
  for (const auto& file : document.at("files")) {
    const auto path = folder / file.at("name").get<std::string>();
    const auto digest = sha256_hex_of_file(path);
    if (!digest || *digest != file.at("sha256").get<std::string>()) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("'{}' {}; it must be rebuilt", path.string(),
                              digest ? "does not have the digest of its manifest" : "is missing"));
    }
  }
  return {};
}

/// A job may have been a model's own code: what it left is files and folders, or is refused.
Status check_plain(const stdfs::path& folder) {
  std::error_code error;
  for (stdfs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto type = entry->symlink_status(error).type();
    if (type != stdfs::file_type::regular && type != stdfs::file_type::directory) {
      return fail(
          ErrorCode::kCorrupt,
          fmt::format("the toolchain made '{}', which is no file; nothing of the job is kept",
                      entry->path().string()));
    }
  }
  return {};
}

Status copy_files(const Json& document, std::string_view name, const stdfs::path& from,
                  const stdfs::path& folder) {
  std::error_code error;
  stdfs::create_directories(folder, error);
  std::vector<std::string> names{std::string(name)};
  for (const auto& file : document.at("files")) {
    names.push_back(file.at("name").get<std::string>());
  }
  for (const auto& one : names) {
    stdfs::copy_file(from / one, folder / one, stdfs::copy_options::overwrite_existing, error);
    if (error) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot copy {} to '{}': {}", one, folder.string(), error.message()));
    }
  }
  return {};
}

/// Parses the document of a cached folder and then checks its files; nullopt if
/// the folder is absent.
template <class T>
Result<std::optional<T>> find_entry(std::string_view key, const stdfs::path& folder,
                                    std::string_view name, Json T::* document,
                                    Result<T> (*parse)(std::string_view, const stdfs::path&,
                                                       Json)) {
  if (!stdfs::exists(folder / name)) {
    return std::nullopt;
  }
  ASSAY_ASSIGN_OR_RETURN(auto json, read_json_file(folder / name));
  ASSAY_ASSIGN_OR_RETURN(auto entry, parse(key, folder, std::move(json)));
  ASSAY_RETURN_IF_ERROR(check_files(folder, entry.*document));
  std::error_code ignored;  // A cache that may not be written is not pruned.
  stdfs::last_write_time(folder, stdfs::file_time_type::clock::now(), ignored);
  return entry;
}

}  // namespace

bool uses_quantization(const Case& cell, std::string_view kind) {
  return kind == "qdq" || cell.gives_layers || !cell.pieces.empty();
}

std::string artifact_key(const Case& cell, std::string_view toolchain_id) {
  const Json made_from = {{"model", model_part(cell)},
                          {"recipe",
                           {{"quantization", cell.recipe.quantization},
                            {"lowering", cell.recipe.lowering},
                            {"name", cell.recipe.is_preset ? cell.recipe.name : ""}}},
                          {"calibration", calibration_part(cell)},
                          {"toolchain", toolchain_id}};
  return digest_of_json(made_from);
}

std::string reference_key(const Case& cell, std::string_view kind, std::string_view toolchain_id) {
  const bool is_quantized = uses_quantization(cell, kind);
  Json made_from = {{"model", model_part(cell)},
                    {"kind", kind},
                    {"quantization", is_quantized ? cell.recipe.quantization : Json(nullptr)},
                    {"inputs", cell.inputs},
                    {"calibration", is_quantized ? calibration_part(cell) : Json(nullptr)},
                    {"toolchain", toolchain_id}};
  if (!cell.expected_sha256.empty() && kind == kFileKind) {
    made_from["expected"] = cell.expected_sha256;
  }
  return digest_of_json(made_from);
}

Status copy_artifact(const Artifact& artifact, const stdfs::path& folder) {
  return copy_files(artifact.manifest, kManifest, artifact.folder, folder);
}

Status copy_reference(const Reference& reference, const stdfs::path& folder) {
  return copy_files(reference.document, kReference, reference.folder, folder);
}

Result<std::optional<Artifact>> ArtifactCache::find_artifact(std::string_view key) const {
  claim(key);
  return find_entry(key, folder_of(key), kManifest, &Artifact::manifest, artifact_from_manifest);
}

Result<std::optional<Reference>> ArtifactCache::find_reference(std::string_view key) const {
  claim(key);
  return find_entry(key, folder_of(key), kReference, &Reference::document, reference_from_document);
}

Result<std::optional<stdfs::path>> ArtifactCache::find_files(std::string_view key) const {
  claim(key);
  auto folder = folder_of(key);
  if (!stdfs::exists(folder / kFileList)) {
    return std::nullopt;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto list, read_json_file(folder / kFileList));
  ASSAY_RETURN_IF_ERROR(check_files(folder, list));
  std::error_code ignored;  // A cache that may not be written is not pruned.
  stdfs::last_write_time(folder, stdfs::file_time_type::clock::now(), ignored);
  return folder;
}

Result<stdfs::path> ArtifactCache::make_staging_folder(std::string_view key) const {
  const auto name = fmt::format("{}-{}", key.substr(0, 16), make_uuid7());
  auto staging = staging_folder() / name;
  claim(name);
  std::error_code error;
  stdfs::create_directories(staging, error);
  if (error) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format(
            "cannot make the cache folder '{}': {}; set ASSAY_HOME to a folder you may write",
            staging.string(), error.message()));
  }
  return staging;
}

Result<std::optional<bool>> ArtifactCache::adopt(std::string_view key, const stdfs::path& staging,
                                                 std::string_view document) const {
  ASSAY_RETURN_IF_ERROR(check_plain(staging));
  const auto folder = folder_of(key);
  claim(key);
  std::optional<bool> is_reproduced;
  const auto before = read_json_file(folder / document);
  if (before && !before->value("files", Json()).empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto after, read_json_file(staging / document));
    is_reproduced = before->value("files", Json()) == after.value("files", Json());
  }
  std::error_code error;
  stdfs::remove_all(folder, error);
  stdfs::create_directories(folder.parent_path(), error);
  stdfs::rename(staging, folder, error);
  if (error) {
    return fail(ErrorCode::kUnavailable, fmt::format("cannot move '{}' into the cache: {}",
                                                     staging.string(), error.message()));
  }
  return is_reproduced;
}

void ArtifactCache::claim(std::string_view name) const {
  const std::scoped_lock lock(claims_->mutex);
  auto& claims = claims_->claims;
  if (!claims) {
    if (auto opened = Claims::open(claims_file())) {
      claims = *std::move(opened);
    }
  }
  if (claims) {
    [[maybe_unused]] const auto status = claims->share(name);
  }
}

stdfs::path ArtifactCache::folder_of(std::string_view key) const {
  return folder_ / key.substr(0, 2) / key;
}

}  // namespace assay
