#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/sandbox.h"
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
  std::optional<Error> fault;  ///< For which the search saw less than there may be.
};

/// Every usable engine build: the runners next to the running executable, and those that `assay
/// engine add` registered under `home`. Each runner is asked to describe itself, or its description
/// is kept (description.h); one that cannot is listed as missing with its reason, and so are the
/// entries of a damaged registry. `details` of a build is its EngineDescription as JSON. A damaged
/// registry, a folder that cannot be listed, a limit of the system and a runner that a signal ended
/// are the `fault`. `sandbox`: for the runners that were added, which Assay did not build.
InstalledBuilds find_installed_builds(const std::filesystem::path& home,
                                      Descriptions descriptions = Descriptions::kKept,
                                      SandboxMode sandbox = SandboxMode::kOff);

/// Errors: the fault of the search, where it ran out of something or one of `references` ("name" or
/// "name@label") was not found; and where a runner died, also without references, which stand for
/// every engine. Then an engine that is not there would be blamed in vain.
Status check_search(const InstalledBuilds& installed, std::span<const std::string> references);

/// A build by "executorch@mine" or, for the first of that engine, "executorch".
/// Errors: kNotFound with did-you-mean, kUnavailable with the reason for an engine that is missing.
Result<EngineBuild> get_build(const InstalledBuilds& installed, const std::string& reference);

/// Key in the details of a registered build: the folder of its bundle, for devices. Such a build
/// does not run on this machine.
inline constexpr const char* kBundleKey = "bundle";

/// Folder of the registered builds.
std::filesystem::path engines_folder(const std::filesystem::path& home);

/// Notes a build in the registry, replacing one of the same reference. Errors: kUnavailable,
/// kExhausted; kCorrupt for a damaged registry, which stays as it is.
Status register_build(const std::filesystem::path& home, const EngineBuild& build);

/// The builds that the registry notes, in the order in which they were added.
std::vector<EngineBuild> registered_builds(const std::filesystem::path& home);

/// Strikes a build off the registry and returns it; its files stay. Errors: kNotFound with
/// did-you-mean, kUnavailable, kExhausted.
Result<EngineBuild> unregister_build(const std::filesystem::path& home,
                                     const std::string& reference);

/// Asks a runner to describe itself, and notes it in the registry under that label. Errors:
/// kInvalidArgument (it is a runner of another engine than `name`), those of describe_runner and
/// register_build.
Result<EngineBuild> register_runner(const std::filesystem::path& home,
                                    const std::filesystem::path& runner, const std::string& name,
                                    const std::string& label,
                                    SandboxMode sandbox = SandboxMode::kOff);

}  // namespace assay
