#include "assay/report/csv_row.h"

#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/text.h"

namespace assay::report {
namespace {

bool is_number(std::string_view field) {
  double ignored = 0;
  const bool has_sign = field.starts_with('+');
  const char* const end = field.data() + field.size();
  const auto [rest, error] = std::from_chars(field.data() + (has_sign ? 1 : 0), end, ignored);
  return error == std::errc{} && rest == end;
}

/// Spreadsheets compute a cell that begins like a formula, whoever wrote it: such a text gets an
/// apostrophe in front, which they do not show. Numbers stay as they are.
/// Source: OWASP, CSV Injection.
std::string harmless(std::string_view field) {
  auto text = printable_lines(field);
  const bool is_formula = !text.empty() && std::string_view("=+-@\t").contains(text.front());
  return is_formula && !is_number(text) ? "'" + text : text;
}

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
    fields.push_back(quoted(harmless(entry.*part)));
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
