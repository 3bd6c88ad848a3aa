#pragma once

#include <optional>

namespace assay::cli {

/// Columns of the terminal that stdout is; nullopt where it is none, or a very narrow one.
std::optional<int> stdout_width_columns();

}  // namespace assay::cli
