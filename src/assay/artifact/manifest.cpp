#include "assay/artifact/manifest.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

using IsOfType = bool (*)(const Json&);
bool is_text(const Json& value) { return value.is_string(); }
bool is_text_or_null(const Json& value) { return value.is_string() || value.is_null(); }
bool is_number(const Json& value) { return value.is_number(); }
bool is_size(const Json& value) { return value.is_number_unsigned(); }
bool is_object(const Json& value) { return value.is_object(); }
bool is_list(const Json& value) { return value.is_array(); }
bool is_range(const Json& value) {
  return value.is_array() && value.size() == 2 && is_size(value[0]) && is_size(value[1]);
}

/// One thing that is read: "stages/*/wall_ns" is that field of each stage.
struct Field {
  std::string_view path;
  const char* type;
  IsOfType is_of_type;
  bool is_required = true;
};

constexpr Field kFileFields[] = {
    {"files", "a list", is_list},          {"files/*", "an object", is_object},
    {"files/*/name", "a text", is_text},   {"files/*/role", "a text", is_text, false},
    {"files/*/sha256", "a text", is_text}, {"files/*/bytes", "a size", is_size},
};

constexpr Field kManifestFields[] = {
    {"entry", "a text, or null", is_text_or_null},
    {"delegation", "a text", is_text, false},
    {"peak_rss_bytes", "a number", is_number, false},
    {"stages", "a list", is_list, false},
    {"stages/*", "an object", is_object},
    {"stages/*/name", "a text", is_text},
    {"stages/*/wall_ns", "a number", is_number},
    {"program", "an object", is_object, false},
    {"program/nodes_delegated", "a number", is_number, false},
    {"program/nodes_not_delegated", "a number", is_number, false},
    {"program/delegates", "a list", is_list, false},
    {"program/delegates/*", "an object", is_object},
    {"program/delegates/*/count", "a number", is_number, false},
    {"program/delegates/*/processed_bytes", "a number", is_number, false},
    {"program/delegates/*/named_data_bytes", "a number", is_number, false},
    {"program/operators_left", "a list", is_list, false},
    {"program/operators_left/*", "an object", is_object},
    {"program/operators_left/*/name", "a text", is_text},
    {"program/operators_left/*/count", "a number", is_number},
    {"program/modelled", "an object", is_object, false},
    {"program/modelled/by", "a text", is_text, false},
    {"program/modelled/target", "a text", is_text, false},
    {"program/modelled/system_config", "a text", is_text, false},
    {"program/modelled/memory_mode", "a text", is_text, false},
    {"program/parts", "a list", is_list, false},
    {"program/parts/*", "an object", is_object},
    {"program/parts/*/outputs", "two sizes", is_range},
    {"program/parts/*/delegation", "an object", is_object, false},
    {"program/parts/*/delegation/nodes_delegated", "a number", is_number, false},
    {"program/parts/*/delegation/nodes_not_delegated", "a number", is_number, false},
    {"program/methods", "a list", is_list, false},
    {"program/methods/*", "an object", is_object},
    {"program/methods/*/planned_arena_bytes", "a list", is_list, false},
    {"program/methods/*/planned_arena_bytes/*", "a number", is_number},
};

constexpr Field kReferenceFields[] = {
    {"kind", "a text", is_text},
};

/// Walks `rest` down from `value`; where a parent is absent there is nothing to check.
Status check_field(const Json& value, std::string_view rest, const std::string& place,
                   const Field& field) {
  if (rest.empty()) {
    return field.is_of_type(value)
               ? Status()
               : fail(ErrorCode::kCorrupt, fmt::format("{} is not {}", place, field.type));
  }
  const auto slash = rest.find('/');
  const std::string step(rest.substr(0, slash));
  const auto next = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  if (step == "*") {
    for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(check_field(value[i], next, fmt::format("{}/{}", place, i), field));
    }
    return {};
  }
  const auto child = value.is_object() ? value.find(step) : value.end();
  const auto path = fmt::format("{}/{}", place, step);
  if (child != value.end()) {
    return check_field(*child, next, path, field);
  }
  return next.empty() && field.is_required && value.is_object()
             ? fail(ErrorCode::kCorrupt, path + " is missing")
             : Status();
}

Status check_fields(const Json& document, std::span<const Field> fields) {
  if (!document.is_object()) {
    return fail(ErrorCode::kCorrupt, "it is no object");
  }
  for (const auto& field : fields) {
    ASSAY_RETURN_IF_ERROR(check_field(document, field.path, "", field));
  }
  return {};
}

/// A name with a slash in it could lead anywhere.
Status check_names(const Json& document) {
  for (const auto& file : document.at("files")) {
    const auto name = file.at("name").get<std::string>();
    if (name.empty() || name == ".." || stdfs::path(name).filename() != name) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("'{}' is not the name of a file in the manifest's folder", name));
    }
  }
  return {};
}

/// The entry is one of the files, whose digests are checked; a program that is only lowered has
/// none.
Status check_entry(const Json& manifest) {
  if (manifest.at("entry").is_null()) {
    return {};
  }
  const auto entry = manifest.at("entry").get<std::string>();
  const bool is_file = std::ranges::any_of(
      manifest.at("files"), [&entry](const Json& file) { return file.at("name") == entry; });
  return is_file ? Status()
                 : fail(ErrorCode::kCorrupt,
                        fmt::format("the entry '{}' is not one of its files", entry));
}

Status check(const Json& document, std::span<const Field> fields, const stdfs::path& folder) {
  auto status = check_fields(document, fields);
  if (status) {
    status = check_fields(document, kFileFields);
  }
  if (status) {
    status = check_names(document);
  }
  if (status && document.contains("entry")) {
    status = check_entry(document);
  }
  if (!status) {
    status.error().message = fmt::format("'{}' is damaged: {}; it must be rebuilt", folder.string(),
                                         status.error().message);
  }
  return status;
}

}  // namespace

Result<Artifact> artifact_from_manifest(std::string_view key, const stdfs::path& folder,
                                        Json manifest) {
  ASSAY_RETURN_IF_ERROR(check(manifest, kManifestFields, folder));
  const auto& entry = manifest.at("entry");
  Artifact artifact{.key = std::string(key),
                    .folder = folder.string(),
                    .entry = entry.is_null() ? "" : entry.get<std::string>(),
                    .files = {},
                    .manifest = {}};
  for (const auto& file : manifest.at("files")) {
    artifact.files.push_back({.name = file.at("name").get<std::string>(),
                              .role = file.value("role", ""),
                              .bytes = file.at("bytes").get<std::int64_t>(),
                              .sha256 = file.at("sha256").get<std::string>()});
  }
  artifact.manifest = std::move(manifest);
  return artifact;
}

Result<Reference> reference_from_document(std::string_view key, const stdfs::path& folder,
                                          Json document) {
  ASSAY_RETURN_IF_ERROR(check(document, kReferenceFields, folder));
  return Reference{.key = std::string(key),
                   .kind = document.at("kind").get<std::string>(),
                   .folder = folder.string(),
                   .document = std::move(document)};
}

}  // namespace assay
