#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"

namespace assay {

/// Asks a runner to describe itself. `reads`: what it needs in addition to its own folder in a
/// `sandbox`. Errors: kUnavailable with what went wrong, kExhausted.
Result<EngineBuild> describe_runner(const std::filesystem::path& runner,
                                    SandboxMode sandbox = SandboxMode::kOff,
                                    const std::vector<std::string>& reads = {});

/// The build that a runner described as `details`, an EngineDescription. Errors: kUnavailable where
/// it is no object, or a field is missing or has the wrong type.
Result<EngineBuild> build_from_description(const std::filesystem::path& runner, Json details);

/// Descriptions kept from command to command: one of an engine in Python takes as long as its
/// interpreter does.
///
/// Kept is what says on what it depends (EngineDescription::depends_on), until the time or the size
/// of one of these changes, or of the runner. A runner that says nothing of it is asked every time,
/// and so is one that fails. Safe while other processes run; a folder that cannot be written keeps
/// nothing.
class DescriptionCache {
 public:
  explicit DescriptionCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// As describe_runner, and with its errors.
  [[nodiscard]] Result<EngineBuild> describe(const std::filesystem::path& runner,
                                             SandboxMode sandbox = SandboxMode::kOff,
                                             const std::vector<std::string>& reads = {}) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace assay
