#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {

/// One row as name and value, so that head and rows cannot differ.
using CsvRow = std::vector<std::pair<std::string, std::string>>;

/// The names as a line. Source: RFC 4180, section 2.
void write_csv_head(const CsvRow& row, std::ostream& out);

/// The values as a line.
void write_csv_row(const CsvRow& row, std::ostream& out);

}  // namespace assay::report
