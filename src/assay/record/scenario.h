#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// Under what conditions a case is timed. In a case only what differs from here is kept, so that a
/// case that asks for nothing has the key it always had. docs/reference/scenarios.md
struct Scenario {
  std::int64_t gap_ns = 0;        ///< Pause before each inference; 0: a tight loop.
  std::int64_t duration_ns = 0;   ///< Infers for so long; 0: a burst of some iterations.
  int streams = 1;                ///< Inferences in flight, each in a session of its own.
  std::string page_cache;         ///< "cold" or "warm" program files; empty: as they are found.
  std::string cores;              ///< "own", "big", "mid", "little", or a list; empty: anywhere.
  std::string background;         ///< "cpu:1" or "memory:2": that much other work.
  double cool_below_celsius = 0;  ///< A launch waits for it; 0: it does not.
  std::string beside;             ///< A program file that another process executes meanwhile.
  std::string beside_sha256;
};

/// Processors of a list such as "0,2-3". Errors: kInvalidArgument.
Result<std::vector<int>> cores_from_text(const std::string& text);

/// Kind and number of a background such as "cpu:2".
struct Background {
  std::string kind;  ///< "cpu": arithmetic in the first cache. "memory": streams over 64 MiB.
  int count = 0;
};

/// Errors: kInvalidArgument.
Result<Background> background_from_text(const std::string& text);

ASSAY_DECLARE_JSON(Scenario);

}  // namespace assay
