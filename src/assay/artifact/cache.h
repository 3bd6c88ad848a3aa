#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/artifact/dependencies.h"
#include "assay/base/claims.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {

/// Key of an artifact: digest of model source, weights, recipe definition, calibration set,
/// dimension bindings and toolchain. The program's own bytes do not enter: they are what the key
/// finds.
std::string artifact_key(const Case& cell, std::string_view toolchain_id);

/// True if a reference of this kind depends on the recipe's lowering: the lowered program.
bool uses_lowering(std::string_view kind);

/// True if a reference of this kind depends on the recipe's quantization: the quantized graph, the
/// lowered program, and any kind that gives out layers, which are those of the quantized graph.
bool uses_quantization(const Case& cell, std::string_view kind);

/// Key of a reference: digest of model, weights, kind, quantization and calibration (where it uses
/// them), inputs and toolchain.
std::string reference_key(const Case& cell, std::string_view kind, std::string_view toolchain_id);

/// Copies the artifact's files and its manifest to `folder`, which is made. Errors: kUnavailable.
Status copy_artifact(const Artifact& artifact, const std::filesystem::path& folder);

/// Likewise the reference's.
Status copy_reference(const Reference& reference, const std::filesystem::path& folder);

/// Document of files that came from elsewhere: {"files": [{"name", "sha256"}]}.
inline constexpr const char* kFileList = "files.json";

/// Result of ArtifactCache::adopt().
struct AdoptedEntry {
  std::filesystem::path folder;
  /// True if an earlier build under this key, with equal dependencies, had the same file digests;
  /// nullopt if there was none.
  std::optional<bool> is_reproduced;
};

/// Folders of finished artifacts and references by key. A key may have several entries, made from
/// dependencies that differ: what is found is an entry whose dependencies are as they were. Its
/// files are checked against the digests in its manifest whenever it is taken out; a wrong digest
/// is an error, and the caller makes it again. What was taken out or made stays as long as the
/// object, or a copy of it: nobody prunes or replaces it. Not thread-safe.
class ArtifactCache {
 public:
  explicit ArtifactCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// nullopt if it was never made, or its dependencies changed since. `scope`: of the job that
  /// would make it. Errors: kCorrupt when a file is missing or its digest is wrong.
  Result<std::optional<Artifact>> find_artifact(std::string_view key,
                                                const DependencyScope& scope = {}) const;
  Result<std::optional<Reference>> find_reference(std::string_view key,
                                                  const DependencyScope& scope = {}) const;
  /// The folder of files that came from elsewhere, adopted with the document kFileList; nullopt:
  /// they did not. Errors: as find_artifact().
  Result<std::optional<std::filesystem::path>> find_files(std::string_view key) const;
  /// Why no entry of a key counts that has some: what changed since the newest was made.
  [[nodiscard]] std::optional<std::string> find_change_since(std::string_view key,
                                                             const DependencyScope& scope) const;

  /// An entry that adopt() has just given, whatever became of its dependencies. Errors: as
  /// find_artifact().
  Result<Artifact> read_artifact(std::string_view key, const std::filesystem::path& folder) const;
  Result<Reference> read_reference(std::string_view key, const std::filesystem::path& folder) const;

  /// Makes a folder for work in progress, which the find_ functions do not see.
  Result<std::filesystem::path> make_staging_folder(std::string_view key) const;

  /// Moves a staging folder to its place. A whole entry with equal files stays, and so does one
  /// that another process uses: the new one then stands next to it. Errors: kCorrupt for a folder
  /// that holds links, devices or pipes, which could lead to files of others.
  Result<AdoptedEntry> adopt(std::string_view key, const std::filesystem::path& staging,
                             std::string_view document, const DependencyScope& scope = {}) const;

  /// Keys that were made again by who uses this object, or a copy of it: the devices of a run and
  /// the steps of a verb prepare the same cases, and what was measured since the first of them
  /// stays.
  void note_rebuilt(std::string_view key) const;
  [[nodiscard]] bool is_rebuilt(std::string_view key) const;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path staging_folder() const { return folder_ / "staging"; }
  /// Says who uses what, by key or by the name of a staging folder.
  [[nodiscard]] std::filesystem::path claims_file() const { return folder_ / "in-use"; }

 private:
  [[nodiscard]] std::filesystem::path folder_of(std::string_view name) const;
  /// All entries of a key that have such a document, the newest first.
  [[nodiscard]] std::vector<std::filesystem::path> entries_of(std::string_view key,
                                                              std::string_view document) const;
  /// The newest whose dependencies are as they were.
  [[nodiscard]] std::optional<std::filesystem::path> find_entry(std::string_view key,
                                                                std::string_view document,
                                                                const DependencyScope& scope) const;
  /// False where somebody else uses what is there.
  [[nodiscard]] Result<bool> replace(const std::filesystem::path& folder,
                                     const std::filesystem::path& staging) const;
  /// Where the claims cannot be written, no process can prune either.
  void claim(std::string_view name) const;
  [[nodiscard]] bool try_take(std::string_view name) const;

  std::filesystem::path folder_;
  /// Threads may keep references of several devices at once.
  struct SharedClaims {
    std::mutex mutex;
    std::optional<Claims> claims;
  };
  std::shared_ptr<SharedClaims> claims_ = std::make_shared<SharedClaims>();
  struct RebuiltKeys {
    std::mutex mutex;
    std::set<std::string, std::less<>> keys;
  };
  std::shared_ptr<RebuiltKeys> rebuilt_ = std::make_shared<RebuiltKeys>();
};

}  // namespace assay
