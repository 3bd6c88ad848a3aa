#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/store/result_store.h"

namespace assay::cli {

/// Which runs are meant: every verb that takes several at once.
struct RunFilterFlags {
  std::vector<std::string> texts;
  std::vector<std::string> labels;  ///< key=value, or key
  std::string purpose;
  std::string model;

  void declare(CLI::App& app);
  /// Errors: kInvalidArgument (a label).
  [[nodiscard]] Result<RunFilter> filter(int limit) const;
};

}  // namespace assay::cli
