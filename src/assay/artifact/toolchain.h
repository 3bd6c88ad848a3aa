#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// The Python interpreter, with its torch and executorch, that makes artifacts.
struct Toolchain {
  std::filesystem::path python;
  std::string id;                               ///< Digest of all versions; paths do not enter.
  std::map<std::string, std::string> packages;  ///< "" for a package that is absent.
  std::string compiles_for;        ///< Digest of what makes machine code: compiler and processor.
  std::vector<std::string> reads;  ///< Its files and folders, which a sandbox opens.
};

/// The interpreter to use: `requested` if not empty, else $ASSAY_PYTHON, else python3 next to the
/// running executable, else the one this build was configured with.
std::filesystem::path default_python(const std::filesystem::path& requested = {});

/// Asks an interpreter for its versions, without importing torch (about 0.1 s).
/// Errors: kUnavailable with the way to install what is missing.
Result<Toolchain> query_toolchain(const std::filesystem::path& python);

/// Asks an interpreter which preset recipes it cannot make: reasons by the recipe's name. About
/// 0.2 s; nothing is imported.
/// Errors: kUnavailable with the way to install what is missing.
Result<std::map<std::string, std::string>> query_missing_recipes(
    const std::filesystem::path& python);

/// Asks an interpreter for all preset recipes, those of plug-ins (ASSAY_PLUGINS) too: a document of
/// schema assay/recipes/1. About 0.2 s.
/// Errors: kUnavailable with the way to install what is missing.
Result<Json> query_presets(const std::filesystem::path& python);

}  // namespace assay
