#include "assay/report/csv_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <string>
#include <vector>

namespace assay::report {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) {
    return field;
  }
  std::string text = "\"";
  for (const char c : field) {
    text += c == '"' ? "\"\"" : std::string(1, c);
  }
  return text + "\"";
}

template <class Part>
void write_line(const CsvRow& row, Part part, std::ostream& out) {
  std::vector<std::string> fields;
  for (const auto& entry : row) {
    fields.push_back(quoted(entry.*part));
  }
  out << fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

void write_csv_head(const CsvRow& row, std::ostream& out) {
  write_line(row, &CsvRow::value_type::first, out);
}

void write_csv_row(const CsvRow& row, std::ostream& out) {
  write_line(row, &CsvRow::value_type::second, out);
}

}  // namespace assay::report
