#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"

namespace assay {

/// One file of an artifact, and what it must digest to.
struct ArtifactFile {
  std::string name;  ///< Relative to the artifact's folder.
  std::string role;  ///< "program" or "data".
  std::int64_t bytes = 0;
  std::string sha256;
};

/// A program with its manifest (schema assay/manifest/1, docs/contracts/aot.md).
struct Artifact {
  std::string key;     ///< Cache key: digest of what it was made from.
  std::string folder;  ///< Folder of its files on this host.
  std::string entry;   ///< Name of the file to load.
  std::vector<ArtifactFile> files;
  Json manifest;
  /// Digest of the files' digests: equal for equal bytes, however they were made.
  [[nodiscard]] std::string digest() const;
  /// Digest of the whole record: what made it, its folder, its files and its manifest.
  [[nodiscard]] std::string id() const;
};

/// One installed build of an engine.
struct EngineBuild {
  std::string name;      ///< "executorch"
  std::string label;     ///< "1.5.1" or "mine"
  std::string runner;    ///< Path of its runner on this host.
  std::string build_id;  ///< Digest of what the runner was built from and against.
  Json details = Json::object();
  std::vector<std::string> reads;  ///< Files and folders that its runner needs, on this host.
  [[nodiscard]] std::string reference() const { return name + "@" + label; }
};

/// Identity of what was measured: {engine build, toolchain, bytes of the artifact}. Two rows with
/// one case_key and different subjects are a before and an after.
struct Subject {
  std::string engine_build;  ///< "executorch@1.5.1"
  std::string engine_build_id;
  std::string toolchain_id;
  std::string artifact_digest;
};

std::string subject_key(const Subject& subject);

ASSAY_DECLARE_JSON(ArtifactFile);
ASSAY_DECLARE_JSON(Artifact);
ASSAY_DECLARE_JSON(EngineBuild);
ASSAY_DECLARE_JSON(Subject);

}  // namespace assay
