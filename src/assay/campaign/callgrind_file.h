#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// Counts of the first event of a callgrind.out file (Ir, instructions).
struct CallgrindCosts {
  std::string tool;  ///< "callgrind-3.19.0"
  std::int64_t total = 0;
  /// Without what a function calls. One without a name is "0x…" or "???" with its file's name.
  std::map<std::string, std::int64_t> own_by_function;
};

/// Errors: kCorrupt, with the line, when it is no such file; kUnsupported when its first event is
/// not Ir.
/// Source: https://valgrind.org/docs/manual/cl-format.html
Result<CallgrindCosts> callgrind_costs_from_text(std::string_view text);

}  // namespace assay
