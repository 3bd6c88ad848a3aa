#include "features/repository/build_entry.h"

#include "features/repository/runner_kind.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/enum_names.h"  // IWYU pragma: keep: JSON of enums
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"
#include "assay/record/revision_build.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

constexpr std::string_view kBuildSchema = "assay/engine-build/1";
constexpr std::string_view kBuildDocument = "build.json";

/// A document may come from another host. Errors: kCorrupt.
Status check_paths(const BuildEntry& entry) {
  std::vector<std::string> paths{entry.key};
  for (const auto& file : entry.files) {
    paths.push_back(file.name);
  }
  for (const auto& [name, path] : entry.outputs) {
    paths.push_back(path);
  }
  const auto outside = std::ranges::find_if_not(paths, stays_below);
  return outside == paths.end()
             ? Status()
             : fail(ErrorCode::kCorrupt,
                    fmt::format("the build.json of '{}' names '{}', which lies outside of it",
                                entry.key, *outside));
}

Status check_files_of(const BuildEntry& entry) {
  for (const auto& file : entry.files) {
    const auto digest = sha256_hex_of_file(entry.folder / file.name);
    if (!digest || *digest != file.sha256) {
      return fail(
          ErrorCode::kCorrupt,
          fmt::format("'{}' {}; it must be built again", (entry.folder / file.name).string(),
                      digest ? "does not have the digest of its build" : "is missing"));
    }
  }
  return {};
}

}  // namespace

Json document_from_entry(const BuildEntry& entry) {
  return {{"schema", kBuildSchema},
          {"engine", entry.engine},
          {"revision", entry.revision},
          {"environment", entry.environment},
          {"runner", entry.runner},
          {"key", entry.key},
          {"outcome", entry.outcome},
          {"reason", entry.reason},
          {"was_killed", entry.was_killed},
          {"exceeded_ns", entry.exceeded_ns},
          {"tools", entry.tools},
          {"seconds", entry.seconds},
          {"outputs", entry.outputs},
          {"files", entry.files},
          {"digest", entry.output_digest},
          {"log", entry.log().string()},
          {"built_unix_ns", entry.built_unix_ns}};
}

Result<BuildEntry> entry_from_document(const Json& document, const std::filesystem::path& folder) {
  try {
    if (document.at("schema") != kBuildSchema) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("'{}' has a build.json of another schema", folder.string()));
    }
    BuildEntry entry{.folder = folder,
                     .key = document.at("key"),
                     .engine = document.at("engine"),
                     .revision = document.at("revision"),
                     .environment = document.at("environment"),
                     .runner = document.at("runner").get<RunnerKind>(),
                     .outcome = document.at("outcome").get<BuildOutcome>(),
                     .reason = document.value("reason", ""),
                     .was_killed = document.value("was_killed", false),
                     .exceeded_ns = document.value("exceeded_ns", std::int64_t{0}),
                     .tools = document.at("tools"),
                     .seconds = document.at("seconds"),
                     .outputs = document.at("outputs"),
                     .files = document.at("files"),
                     .output_digest = document.at("digest"),
                     .built_unix_ns = document.at("built_unix_ns")};
    ASSAY_RETURN_IF_ERROR(check_paths(entry));
    return entry;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("'{}' has a damaged build.json: {}", folder.string(), error.what()));
  }
}

Status write_build_document(const BuildEntry& entry, const std::filesystem::path& place) {
  return write_file_atomically(place / kBuildDocument, document_from_entry(entry).dump(2) + "\n");
}

Result<BuildEntry> read_build_document(const std::filesystem::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const auto document, read_json_file(folder / kBuildDocument));
  return entry_from_document(document, folder);
}

Result<BuildEntry> read_build_entry(const std::filesystem::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(auto entry, read_build_document(folder));
  ASSAY_RETURN_IF_ERROR(check_files_of(entry));
  return entry;
}

}  // namespace assay
