#pragma once

#include <optional>

namespace assay::cli {

/// Columns of the terminal behind a descriptor; nullopt where it is none, or a very narrow one.
std::optional<int> terminal_width_columns(int descriptor);

/// Tells whether text may have colours there: a terminal, unless the configuration says never.
bool has_colour(int descriptor);

}  // namespace assay::cli
