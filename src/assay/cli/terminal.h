#pragma once

#include <optional>

namespace assay::cli {

/// Columns of the text on a descriptor: what the variable COLUMNS says, else the width of the
/// terminal behind it; nullopt where neither is known or the text would be very narrow.
std::optional<int> terminal_width_columns(int descriptor);

/// Tells whether lines can be drawn again there: a terminal that obeys control sequences.
bool can_redraw(int descriptor);

/// Tells whether text may have colours there: such a terminal, unless the configuration says never.
bool has_colour(int descriptor);

}  // namespace assay::cli
