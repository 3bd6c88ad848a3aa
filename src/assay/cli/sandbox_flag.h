#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/record/sandbox.h"

namespace assay::cli {

/// --sandbox: whether processes are kept in a box.
struct SandboxFlag {
  std::string mode;  ///< Name of a SandboxMode; empty: not given.

  /// `what`: what runs in the box, for the help. `otherwise`: what happens without the flag.
  void declare(CLI::App& app, const std::string& what, const std::string& otherwise);

  /// The flag's, else `of_spec`; nothing where neither says. Errors: kInvalidArgument for an
  /// unknown mode; kUnavailable where a box is required and this machine cannot enforce all of it.
  [[nodiscard]] Result<std::optional<SandboxMode>> get(
      std::optional<SandboxMode> of_spec = std::nullopt) const;
};

}  // namespace assay::cli
