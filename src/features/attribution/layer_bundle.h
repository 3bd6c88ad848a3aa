#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/sandbox.h"
#include "assay/record/summary.h"

namespace assay {

/// Input and destination of the bundles of layers.
struct LayerBundleRequest {
  std::vector<Case> cases;
  std::filesystem::path folder;        ///< Gets a folder for each case.
  std::vector<std::string> libraries;  ///< The user's; named in the command that repeats a layer.
  int parallel_jobs = 2;               ///< Jobs of the toolchain at a time.
  std::optional<SandboxMode> sandbox;  ///< Sandbox of its jobs; absent: as box_of_job chooses.
  ToolchainOf toolchain_of;
  std::function<bool()> should_stop;
};

/// For every case whose error was followed through its layers: a folder with the layer whose
/// backend is furthest off by itself, as a program with inputs, expected outputs, the manifest, and
/// a spec that compares them. Logs the command that runs the spec. Errors: those of the toolchain;
/// kUnavailable when a file cannot be written.
Status write_layer_bundles(const LayerBundleRequest& request, const RunSummary& summary,
                           const ArtifactCache& cache);

}  // namespace assay
