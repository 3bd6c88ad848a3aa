#pragma once

#include "features/repository/repository_spec.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// The branch of a package whose versions include pre-releases.
inline constexpr std::string_view kPrereleases = "pre";
/// The file that an environment of a package installs from.
inline constexpr const char* kRequirements = "requirements.txt";

/// "onnxruntime==1.23.0..1.27.0": the versions of a package from one to another.
struct VersionRange {
  std::string package;
  std::string first;
  std::string last;
};

/// nullopt for a text without "==", which is a file. Errors: kInvalidArgument.
Result<std::optional<VersionRange>> version_range_from_text(const std::string& text);

/// The environment of a package where the repository file names none: a virtual environment for
/// each version, made with {python} and its pip.
BuildEnvironment wheel_environment();

/// The repository file that is not needed where the engine is one of Assay's own. Errors: kNotFound
/// for another package.
Result<RepositorySpec> repository_spec_of(const VersionRange& range);

/// Puts the interpreter in place of {python} in all build commands.
void use_python(const std::filesystem::path& python, RepositorySpec& spec);

}  // namespace assay
