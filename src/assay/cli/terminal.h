#pragma once

#include <optional>

namespace assay::cli {

/// Columns of the terminal behind a descriptor; nullopt where it is none, or a very narrow one.
std::optional<int> terminal_width_columns(int descriptor);

/// Tells whether lines can be drawn again there: a terminal that obeys control sequences.
bool can_redraw(int descriptor);

/// Tells whether text may have colours there: such a terminal, unless the configuration says never.
bool has_colour(int descriptor);

}  // namespace assay::cli
