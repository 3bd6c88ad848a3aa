#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// A toolchain of its own, for flows whose packages do not go together with those of the others.
struct OwnToolchain {
  std::string name;                ///< "litert"
  std::vector<std::string> flows;  ///< Lowering flows that it makes.
  std::string how_to_get;
};

/// python/assay/data/toolchains.json, which the toolchain's side reads too.
const std::vector<OwnToolchain>& own_toolchains();

/// Its interpreter: $ASSAY_PYTHON_<NAME>, else .venv-<name> next to the environment of the default
/// one; empty: there is none.
std::filesystem::path find_own_python(const std::string& name,
                                      const std::filesystem::path& default_python);

/// The interpreter that makes programs by a lowering: the own one of its flow where it is there,
/// else the default one, which says what it lacks.
std::filesystem::path python_of(const Json& lowering, const std::filesystem::path& default_python);

/// The toolchain of a lowering. Errors: kUnavailable.
using ToolchainOf = std::function<Result<Toolchain>(const Json& lowering)>;

/// Asks each interpreter once. Not thread-safe.
ToolchainOf toolchains_of(std::filesystem::path default_python);

/// Which preset recipes cannot be made here, by any toolchain: reasons by the recipe's name.
/// Those of an interpreter that cannot be asked are missing, too.
std::map<std::string, std::string> find_missing_recipes(
    const std::filesystem::path& default_python);

}  // namespace assay
