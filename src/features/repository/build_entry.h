#pragma once

#include "features/repository/runner_kind.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/revision_build.h"
#include "assay/record/subject.h"

namespace assay {

/// A build in the cache: its outputs, by their paths below the work folder, its log, and build.json
/// (schema assay/engine-build/1).
struct BuildEntry {
  std::filesystem::path folder;
  std::string key;
  std::string engine;
  std::string revision;  ///< The one that it was first built from.
  std::string environment;
  RunnerKind runner = RunnerKind::kCommand;
  BuildOutcome outcome = BuildOutcome::kFailed;
  std::string reason;            ///< Why it failed.
  bool was_killed = false;       ///< It failed by what happened outside, twice: it is built again.
  std::int64_t exceeded_ns = 0;  ///< It failed by this time limit; 0: by something else.
  Json tools;
  double seconds = 0;
  std::map<std::string, std::string> outputs;  ///< Path below the folder, by name.
  std::vector<ArtifactFile> files;             ///< Every file of the outputs.
  std::string output_digest;
  std::int64_t built_unix_ns = 0;

  [[nodiscard]] std::filesystem::path log() const { return folder / "build.log"; }
  [[nodiscard]] std::filesystem::path output(const std::string& name) const {
    return folder / outputs.at(name);
  }
};

/// Writes build.json to `place`, as of an entry that will lie in entry.folder.
Status write_build_document(const BuildEntry& entry, const std::filesystem::path& place);

/// Reads the build.json of an entry in `folder`. Errors: kCorrupt.
Json document_from_entry(const BuildEntry& entry);
Result<BuildEntry> entry_from_document(const Json& document, const std::filesystem::path& folder);

/// Reads the entry without a look at its files. Errors: kNotFound; kCorrupt for a broken document.
Result<BuildEntry> read_build_document(const std::filesystem::path& folder);

/// Errors: kNotFound; kCorrupt for a broken document, and for a file that is missing or does
/// not have its digest.
Result<BuildEntry> read_build_entry(const std::filesystem::path& folder);

}  // namespace assay
