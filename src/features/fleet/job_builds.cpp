#include "features/fleet/job_builds.h"

#include "features/fleet/artifact_store.h"
#include "features/repository/build_cache.h"
#include "features/repository/build_entry.h"
#include "features/repository/engine_registration.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

bool is_executable(const stdfs::path& file) {
  std::error_code ignored;
  const auto permissions = stdfs::status(file, ignored).permissions();
  return (permissions & stdfs::perms::owner_exec) != stdfs::perms::none;
}

Status make_executable(const stdfs::path& file) {
  std::error_code error;
  stdfs::permissions(file,
                     stdfs::perms::owner_all | stdfs::perms::group_read | stdfs::perms::group_exec |
                         stdfs::perms::others_read | stdfs::perms::others_exec,
                     error);
  return error ? fail(ErrorCode::kUnavailable, fmt::format("cannot make '{}' executable: {}",
                                                           file.string(), error.message()))
               : Status();
}

}  // namespace

Json json_from_job_build(const JobBuild& build) {
  return {{"label", build.label},
          {"entry", document_from_entry(build.entry)},
          {"executables", build.executables}};
}

JobBuild job_build_from_json(const Json& document) {
  auto entry = entry_from_document(document.at("entry"), {});
  if (!entry) {
    throw std::invalid_argument(entry.error().message);
  }
  return {.label = document.at("label").get<std::string>(),
          .entry = *std::move(entry),
          .executables = document.at("executables").get<std::vector<std::string>>()};
}

Result<std::optional<JobBuild>> find_job_build(const EngineBuild& build, const stdfs::path& home) {
  ASSAY_ASSIGN_OR_RETURN(auto entry, find_entry_of(build, home));
  if (!entry) {
    return std::optional<JobBuild>();
  }
  JobBuild found{.label = build.label, .entry = *std::move(entry)};
  for (const auto& file : found.entry.files) {
    if (is_executable(found.entry.folder / file.name)) {
      found.executables.push_back(file.name);
    }
  }
  return std::optional(std::move(found));
}

Status put_build(const JobBuild& build, ArtifactStore& store, std::set<std::string>& known) {
  for (const auto& file : build.entry.files) {
    if (known.insert(file.sha256).second) {
      ASSAY_RETURN_IF_ERROR(store.put(build.entry.folder / file.name, file.sha256));
    }
  }
  return {};
}

BroughtBuilds::BroughtBuilds(stdfs::path home)
    : home_(std::move(home)), cache_(builds_folder(home_)) {}

Status BroughtBuilds::fetch(const JobBuild& build, ArtifactStore& store) {
  ASSAY_ASSIGN_OR_RETURN(const auto staging, cache_.make_staging(build.entry.key));
  for (const auto& file : build.entry.files) {
    const auto target = staging / file.name;
    std::error_code error;
    stdfs::create_directories(target.parent_path(), error);
    ASSAY_RETURN_IF_ERROR(store.get(file.sha256, target));
    if (std::ranges::find(build.executables, file.name) != build.executables.end()) {
      ASSAY_RETURN_IF_ERROR(make_executable(target));
    }
  }
  auto entry = build.entry;
  entry.folder = cache_.folder_of(entry.key);
  ASSAY_RETURN_IF_ERROR(write_build_document(entry, staging));
  return cache_.adopt(entry.key, staging);
}

Result<EngineBuild> BroughtBuilds::bring(const JobBuild& build, ArtifactStore& store) {
  ASSAY_ASSIGN_OR_RETURN(auto found, cache_.find(build.entry.key));
  if (!found || found->output_digest != build.entry.output_digest) {
    ASSAY_RETURN_IF_ERROR(fetch(build, store));
    ASSAY_ASSIGN_OR_RETURN(found, cache_.find(build.entry.key));
  }
  return found ? register_entry(build.label, *found, home_)
               : fail(ErrorCode::kUnavailable,
                      fmt::format("the build cache lost {}, which was brought there; try again",
                                  build.reference()));
}

}  // namespace assay
