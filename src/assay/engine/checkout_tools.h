#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay {

struct ProgramVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  bool operator==(const ProgramVersion&) const = default;
};

/// The first "X.Y" or "X.Y.Z" in what `PROGRAM --version` prints. nullopt: it does not start, or
/// prints no version.
std::optional<ProgramVersion> version_of_program(const std::string& program);

/// The version that an installed ExecuTorch's CMake package names, such as "1.5.1+cpu"; empty: it
/// names none.
std::string installed_version(const std::filesystem::path& package);

/// The commit of a checkout by git, with "-dirty" where files were changed; empty: git does not
/// tell.
std::string commit_of(const std::filesystem::path& checkout);

bool has_module(const std::filesystem::path& python, std::string_view module);

/// Finds the tools in $VULKAN_SDK/bin, else on $PATH. Errors: kUnavailable with the ways to get it.
Result<std::filesystem::path> find_glslc();

/// The extensions of GLSL that the shaders of a checkout require and that glslc refuses. Errors:
/// kUnavailable where it compiles nothing at all.
Result<std::vector<std::string>> find_missing_extensions(const std::filesystem::path& glslc,
                                                         const std::filesystem::path& checkout);

/// A flatc of the version of the checkout's flatbuffers, in the installation or on $PATH.
/// Errors: kUnavailable with the way to get it.
Result<std::filesystem::path> find_flatc(const std::filesystem::path& prefix,
                                         const std::filesystem::path& checkout);

/// The folder with lib/libvgf.a and include/vgf: $EXECUTORCH_VGF_ROOT, else that in the package
/// ai-ml-sdk-vgf-library. Errors: kUnavailable with the way to get it.
Result<std::filesystem::path> find_vgf_library(const std::filesystem::path& python);

/// The text without white space around it.
std::string trimmed(std::string_view text);

}  // namespace assay
