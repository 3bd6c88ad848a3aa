#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/run.h"

namespace assay {

/// True if cores are called so: "big", "mid", "little".
bool is_core_name(std::string_view text);

/// Processors of a name or a list such as "0,2-3" on a machine. Where its cores are all alike, each
/// is big. Errors: kInvalidArgument, listing the names that it has.
Result<std::vector<int>> cores_on_machine(const std::string& text, const Environment& environment);

}  // namespace assay
