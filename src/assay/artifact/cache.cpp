#include "assay/artifact/cache.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/artifact/dependencies.h"
#include "assay/artifact/manifest.h"
#include "assay/base/claims.h"
#include "assay/base/digest.h"
#include "assay/base/enum_names.h"
#include "assay/base/folders.h"
#include "assay/base/fs.h"
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
  return may_calibrate(cell.recipe) ? Json(cell.calibration) : Json(nullptr);
}

/// A text of a document that anybody may have written; empty: there is none.
std::string text_in(const Json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The files that a document lists, whatever it is; null: it lists none.
Json files_in(const Json& document) {
  const auto found = document.find("files");
  return found == document.end() ? Json() : *found;
}

Status check_files(const stdfs::path& folder, const Json& document) {
  for (const auto& file : files_in(document)) {
    const auto path = folder / text_in(file, "name");
    const auto digest = sha256_hex_of_file(path);
    if (!digest || *digest != text_in(file, "sha256")) {
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

/// Removes the files that an earlier document of this folder names and that are still as it says:
/// weights in a file of their own would otherwise stay next to a program that has none. Errors:
/// kInvalidArgument where the document is not one of Assay's: it is the user's.
Status remove_files_of_earlier(const stdfs::path& document, std::string_view schemas) {
  if (!stdfs::exists(document)) {
    return {};
  }
  const auto earlier = read_json_file(document);
  if (!earlier || !text_in(*earlier, "schema").starts_with(schemas)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not of Assay and would be overwritten; choose another folder",
                            document.string()));
  }
  for (const auto& file : earlier->value("files", Json::array())) {
    const stdfs::path name = text_in(file, "name");
    const auto path = document.parent_path() / name;
    const bool is_beside = !name.empty() && name == name.filename();
    std::error_code ignored;
    if (is_beside && sha256_hex_of_file(path).value_or("") == text_in(file, "sha256")) {
      stdfs::remove(path, ignored);
    }
  }
  return {};
}

Status copy_files(const Json& document, std::string_view name, const stdfs::path& from,
                  const stdfs::path& folder) {
  std::error_code error;
  stdfs::create_directories(folder, error);
  ASSAY_RETURN_IF_ERROR(remove_files_of_earlier(
      folder / name, name == kManifest ? "assay/manifest/" : "assay/reference/"));
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

/// Parses the document of an entry and then checks its files.
template <class T>
Result<T> read_entry(std::string_view key, const stdfs::path& folder, std::string_view name,
                     Json T::* document,
                     Result<T> (*parse)(std::string_view, const stdfs::path&, Json)) {
  ASSAY_ASSIGN_OR_RETURN(auto json, read_json_file(folder / name));
  ASSAY_ASSIGN_OR_RETURN(auto entry, parse(key, folder, std::move(json)));
  ASSAY_RETURN_IF_ERROR(check_files(folder, entry.*document));
  std::error_code ignored;  // A cache that may not be written is not pruned.
  stdfs::last_write_time(folder, stdfs::file_time_type::clock::now(), ignored);
  return entry;
}

/// The dependencies of an entry; null: it has none.
Result<Json> dependencies_of(const stdfs::path& folder) {
  const auto file = folder / kDependencyFile;
  return stdfs::exists(file) ? read_json_file(file) : Result<Json>(Json());
}

std::optional<std::string> change_of_entry(const stdfs::path& folder,
                                           const DependencyScope& scope) {
  const auto dependencies = dependencies_of(folder);
  if (!dependencies) {
    return "its list of dependencies is damaged";
  }
  return dependencies->is_null() ? std::nullopt : find_change(*dependencies, scope);
}

/// Writes the dependencies as the cache keeps them. Returns what tells the entry from others of its
/// key; empty for one that has no dependencies.
Result<std::string> settle_dependencies(const stdfs::path& staging, const DependencyScope& scope) {
  ASSAY_ASSIGN_OR_RETURN(auto recorded, dependencies_of(staging));
  if (recorded.is_null()) {
    return "";
  }
  const auto file = staging / kDependencyFile;
  auto settled = dependencies_in_scope(std::move(recorded), scope);
  if (!settled) {
    return fail_with_context(std::move(settled).error(), file.string());
  }
  ASSAY_RETURN_IF_ERROR(write_file_atomically(file, settled->dump()));
  constexpr std::size_t kDigits = 16;
  return "-" + digest_of_dependencies(*settled).substr(0, kDigits);
}

/// True if an entry has the same files as the folder; nullopt if there is no entry, or one without
/// files.
Result<std::optional<bool>> has_same_files(const stdfs::path& entry, const stdfs::path& staging,
                                           std::string_view document) {
  const auto before = read_json_file(entry / document);
  if (!before || files_in(*before).empty()) {
    return std::nullopt;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto after, read_json_file(staging / document));
  return files_in(*before) == files_in(after);
}

bool is_whole(const stdfs::path& entry, std::string_view document) {
  const auto json = read_json_file(entry / document);
  return json && json->contains("files") && check_files(entry, *json);
}

}  // namespace

bool uses_lowering(std::string_view kind) { return kind == name_of(ReferenceKind::kLoweredEager); }

bool uses_quantization(const Case& cell, std::string_view kind) {
  return kind == "qdq" || uses_lowering(kind) || cell.gives_layers || !cell.pieces.empty();
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
  if (uses_lowering(kind)) {
    made_from["lowering"] = cell.recipe.lowering;
  }
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

Result<std::optional<Artifact>> ArtifactCache::find_artifact(std::string_view key,
                                                             const DependencyScope& scope) const {
  const auto folder = find_entry(key, kManifest, scope);
  if (!folder) {
    return std::nullopt;
  }
  return read_artifact(key, *folder);
}

Result<std::optional<Reference>> ArtifactCache::find_reference(std::string_view key,
                                                               const DependencyScope& scope) const {
  const auto folder = find_entry(key, kReference, scope);
  if (!folder) {
    return std::nullopt;
  }
  return read_reference(key, *folder);
}

Result<Artifact> ArtifactCache::read_artifact(std::string_view key,
                                              const stdfs::path& folder) const {
  return read_entry(key, folder, kManifest, &Artifact::manifest, artifact_from_manifest);
}

Result<Reference> ArtifactCache::read_reference(std::string_view key,
                                                const stdfs::path& folder) const {
  return read_entry(key, folder, kReference, &Reference::document, reference_from_document);
}

Result<std::optional<stdfs::path>> ArtifactCache::find_files(std::string_view key) const {
  auto folder = find_entry(key, kFileList, {});
  if (!folder) {
    return std::nullopt;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto list, read_json_file(*folder / kFileList));
  ASSAY_RETURN_IF_ERROR(check_files(*folder, list));
  std::error_code ignored;  // A cache that may not be written is not pruned.
  stdfs::last_write_time(*folder, stdfs::file_time_type::clock::now(), ignored);
  return folder;
}

std::vector<stdfs::path> ArtifactCache::entries_of(std::string_view key,
                                                   std::string_view document) const {
  std::vector<std::pair<stdfs::file_time_type, stdfs::path>> found;
  const auto prefix = fmt::format("{}-", key);
  for (auto& folder : folders_in(folder_of(key).parent_path())) {
    const auto name = folder.filename().string();
    std::error_code error;
    const auto written = name == key || name.starts_with(prefix)
                             ? stdfs::last_write_time(folder / document, error)
                             : stdfs::file_time_type::min();
    if (!error && written != stdfs::file_time_type::min()) {
      found.emplace_back(written, std::move(folder));
    }
  }
  std::ranges::sort(found, std::greater());
  std::vector<stdfs::path> entries;
  entries.reserve(found.size());
  for (auto& [written, folder] : found) {
    entries.push_back(std::move(folder));
  }
  return entries;
}

std::optional<stdfs::path> ArtifactCache::find_entry(std::string_view key,
                                                     std::string_view document,
                                                     const DependencyScope& scope) const {
  for (auto& folder : entries_of(key, document)) {
    if (change_of_entry(folder, scope)) {
      continue;
    }
    claim(folder.filename().string());
    if (stdfs::exists(folder / document)) {  // Nobody pruned it meanwhile.
      return std::move(folder);
    }
  }
  return std::nullopt;
}

std::optional<std::string> ArtifactCache::find_change_since(std::string_view key,
                                                            const DependencyScope& scope) const {
  for (const auto document : {kManifest, kReference}) {
    if (const auto entries = entries_of(key, document); !entries.empty()) {
      return change_of_entry(entries.front(), scope);
    }
  }
  return std::nullopt;
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

Result<AdoptedEntry> ArtifactCache::adopt(std::string_view key, const stdfs::path& staging,
                                          std::string_view document,
                                          const DependencyScope& scope) const {
  ASSAY_RETURN_IF_ERROR(check_plain(staging));
  ASSAY_ASSIGN_OR_RETURN(const auto suffix, settle_dependencies(staging, scope));
  const auto name = fmt::format("{}{}", key, suffix);
  AdoptedEntry adopted{.folder = folder_of(name), .is_reproduced = {}};
  claim(name);
  ASSAY_ASSIGN_OR_RETURN(adopted.is_reproduced, has_same_files(adopted.folder, staging, document));
  if (adopted.is_reproduced == true && is_whole(adopted.folder, document)) {
    std::error_code ignored;
    stdfs::remove_all(staging, ignored);
    return adopted;
  }
  ASSAY_ASSIGN_OR_RETURN(const bool is_replaced, replace(adopted.folder, staging));
  if (!is_replaced) {
    adopted.folder += fmt::format("-{}", make_uuid7());
    claim(adopted.folder.filename().string());
    ASSAY_RETURN_IF_ERROR(replace(adopted.folder, staging));
  }
  return adopted;
}

void ArtifactCache::note_rebuilt(std::string_view key) const {
  const std::scoped_lock lock(rebuilt_->mutex);
  rebuilt_->keys.emplace(key);
}

bool ArtifactCache::is_rebuilt(std::string_view key) const {
  const std::scoped_lock lock(rebuilt_->mutex);
  return rebuilt_->keys.contains(key);
}

Result<bool> ArtifactCache::replace(const stdfs::path& folder, const stdfs::path& staging) const {
  const auto name = folder.filename().string();
  if (!try_take(name)) {
    return false;
  }
  std::error_code error;
  const auto aside = staging_folder() / ("removed-" + make_uuid7());
  stdfs::create_directories(aside.parent_path(), error);
  stdfs::rename(folder, aside, error);  // Mostly there is none.
  stdfs::create_directories(folder.parent_path(), error);
  stdfs::rename(staging, folder, error);
  claim(name);
  std::error_code ignored;
  stdfs::remove_all(aside, ignored);
  if (error == std::errc::directory_not_empty || error == std::errc::file_exists) {
    return false;  // Where claims cannot be written, another process may have been faster.
  }
  if (error) {
    return fail(ErrorCode::kUnavailable, fmt::format("cannot move '{}' into the cache: {}",
                                                     staging.string(), error.message()));
  }
  return true;
}

bool ArtifactCache::try_take(std::string_view name) const {
  const std::scoped_lock lock(claims_->mutex);
  return !claims_->claims || claims_->claims->try_take(name).value_or(true);
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

stdfs::path ArtifactCache::folder_of(std::string_view name) const {
  return folder_ / name.substr(0, 2) / name;
}

}  // namespace assay
