#pragma once

#include "features/conform/conform_case.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// Options that determine the results of a run of conformance; kept with the run, so that it can go
/// on.
struct ConformOptions {
  std::vector<std::string> recipes = {"executorch/xnnpack-fp32"};
  std::vector<std::string> engines;
  std::vector<std::string> options;  ///< name=value[,value]
  std::vector<std::string> threads;  ///< Short for options threads=…
  std::string suite = "operators";
  std::string tier = "quick";
  std::vector<std::string> match;
  std::vector<std::string> dtypes;
  std::string shard;  ///< "1/4": the first of four.
  int batch = 16;
  std::string expand = "full";  ///< Or "pairwise": pairs of recipes, engines and options.
  std::uint64_t seed = 0;       ///< Seed of tier fuzz; `count` belongs to that tier, too.
  int count = 100;
  int max_results = 20000;
  std::string require_delegation = "none";
  std::string changed_since;  ///< Run whose passes hold where nothing has changed; empty: none do.
  std::string job_timeout;    ///< Duration with unit; empty: chosen by the suite.
  std::string only;           ///< Part of the names of cases; empty: all.
  std::string known_folder;   ///< Folder of known gaps; empty: that of the package.
  std::vector<std::string> libraries;    ///< [ENGINE=]FILE
  std::string launch_timeout;            ///< Duration with unit; empty: chosen by the suite.
  std::uint64_t memory_limit_bytes = 0;  ///< 0: none.

  [[nodiscard]] CaseSelection selection() const;

  /// This shard's share. Errors: kInvalidArgument for a malformed shard.
  [[nodiscard]] Result<std::vector<ConformCase>> share_of(
      const std::vector<ConformCase>& cases) const;

  /// How long a job ahead of time, or a runner, may take. Errors: kInvalidArgument.
  [[nodiscard]] Result<std::int64_t> job_timeout_ns() const;
  [[nodiscard]] std::int64_t launch_timeout_ns() const;
};

ASSAY_DECLARE_JSON(ConformOptions);

}  // namespace assay
