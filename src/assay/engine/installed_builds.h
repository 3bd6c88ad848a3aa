#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/subject.h"

namespace assay {

/// An engine that could be here but is not, with the way to get it.
struct MissingEngine {
  std::string name;
  std::string reason;
};

/// Where descriptions of runners come from. kAskedAnew: from all of them, for who wants to know
/// whether they start.
enum class Descriptions : std::uint8_t { kKept, kAskedAnew };

struct InstalledBuilds {
  std::vector<EngineBuild> builds;
  std::vector<MissingEngine> missing;
};

/// Every usable engine build: the runners beside the running executable, and those that `assay
/// engine add` registered under `home`. Each runner is asked to describe itself, or its description
/// is kept (description.h); one that cannot is listed as missing with its reason, and so are the
/// entries of a damaged registry. `details` of a build is its EngineDescription as JSON.
InstalledBuilds find_installed_builds(const std::filesystem::path& home,
                                      Descriptions descriptions = Descriptions::kKept);

/// A build by "executorch@mine" or, for the first of that engine, "executorch".
/// Errors: kNotFound with did-you-mean, kUnavailable with the reason for an engine that is missing.
Result<EngineBuild> get_build(const InstalledBuilds& installed, const std::string& reference);

/// Where registered builds are kept.
std::filesystem::path engines_folder(const std::filesystem::path& home);

/// Notes a build in the registry, replacing one of the same reference. Errors: kUnavailable,
/// kExhausted; kCorrupt for a damaged registry, which stays as it is.
Status register_build(const std::filesystem::path& home, const EngineBuild& build);

/// Asks a runner to describe itself, and notes it in the registry under that label. Errors:
/// kInvalidArgument (it is a runner of another engine than `name`), those of describe_runner and
/// register_build.
Result<EngineBuild> register_runner(const std::filesystem::path& home,
                                    const std::filesystem::path& runner, const std::string& name,
                                    const std::string& label);

}  // namespace assay
