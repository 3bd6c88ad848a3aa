#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "assay/report/text_table.h"

namespace assay::report {

/// Text that stays text inside a table cell of GitHub's Markdown, whatever an engine printed.
std::string markdown_escaped(std::string_view text);

/// All columns; groups become rows in bold.
void write_markdown_table(const TextTable& table, std::ostream& out);

}  // namespace assay::report
