#pragma once

#include <array>
#include <filesystem>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// An engine whose runner can be built against another installation.
struct BuildableEngine {
  std::string_view name;  ///< Also the Python module of its wheel.
  std::string_view package;
  std::array<const char*, 2> files;    ///< Names of the package's configuration.
  std::array<const char*, 7> folders;  ///< Folders in which installations keep it.
};

/// Errors: kUnsupported, naming those that can be built.
Result<const BuildableEngine*> find_buildable_engine(std::string_view name);

/// The folder of the engine's CMake package in an installation. Errors: kNotFound, telling where it
/// looked.
Result<std::filesystem::path> find_cmake_package(const std::filesystem::path& prefix,
                                                 const BuildableEngine& engine);

/// The folder of the engine's Python package, whose CMake package is in it. Errors: kNotFound where
/// the interpreter has none; those of run_command().
Result<std::filesystem::path> find_installation(const std::filesystem::path& python,
                                                const BuildableEngine& engine);

}  // namespace assay
