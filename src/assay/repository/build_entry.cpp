#include "assay/repository/build_entry.h"

#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string_view>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/revision_build.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

constexpr std::string_view kBuildSchema = "assay/engine-build/1";
constexpr std::string_view kBuildDocument = "build.json";

Result<BuildEntry> entry_from_document(const Json& document, const std::filesystem::path& folder) {
  try {
    if (document.at("schema") != kBuildSchema) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("'{}' has a build.json of another schema", folder.string()));
    }
    return BuildEntry{.folder = folder,
                      .key = document.at("key"),
                      .engine = document.at("engine"),
                      .revision = document.at("revision"),
                      .environment = document.at("environment"),
                      .outcome = document.at("outcome").get<BuildOutcome>(),
                      .reason = document.value("reason", ""),
                      .tools = document.at("tools"),
                      .seconds = document.at("seconds"),
                      .outputs = document.at("outputs"),
                      .files = document.at("files"),
                      .output_digest = document.at("digest"),
                      .built_unix_ns = document.at("built_unix_ns")};
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("'{}' has a damaged build.json: {}", folder.string(), error.what()));
  }
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

Status write_build_document(const BuildEntry& entry, const std::filesystem::path& place) {
  const Json document = {{"schema", kBuildSchema},
                         {"engine", entry.engine},
                         {"revision", entry.revision},
                         {"environment", entry.environment},
                         {"key", entry.key},
                         {"outcome", entry.outcome},
                         {"reason", entry.reason},
                         {"tools", entry.tools},
                         {"seconds", entry.seconds},
                         {"outputs", entry.outputs},
                         {"files", entry.files},
                         {"digest", entry.output_digest},
                         {"log", entry.log().string()},
                         {"built_unix_ns", entry.built_unix_ns}};
  return write_file_atomically(place / kBuildDocument, document.dump(2) + "\n");
}

Result<BuildEntry> read_build_entry(const std::filesystem::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const auto document, read_json_file(folder / kBuildDocument));
  ASSAY_ASSIGN_OR_RETURN(auto entry, entry_from_document(document, folder));
  ASSAY_RETURN_IF_ERROR(check_files_of(entry));
  return entry;
}

}  // namespace assay
