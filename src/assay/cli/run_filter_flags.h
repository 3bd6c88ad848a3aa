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
  /// The flags alone, for a verb with arguments of its own.
  void declare_flags(CLI::App& app);
  /// Errors: kInvalidArgument (a label, or a purpose that no run can have).
  [[nodiscard]] Result<RunFilter> filter(int limit) const;
};

/// --limit: a number of runs of at least 1, or -1 for all.
void declare_limit(CLI::App& app, int& limit, const std::string& help);

}  // namespace assay::cli
