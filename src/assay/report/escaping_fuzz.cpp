// Whatever an engine prints, it stays text in every format of a report: no control character, no
// markup, no end of a cell, and no line that is wider than the page.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "assay/base/fuzz_input.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/report/csv_row.h"
#include "assay/report/format.h"
#include "assay/report/html_page.h"
#include "assay/report/json_lines.h"
#include "assay/report/markdown_text.h"
#include "assay/report/text_table.h"
#include "assay/report/writer.h"
#include "assay/report/xml.h"

namespace {

using namespace assay::report;

bool has_control(std::string_view text, std::string_view allowed) {
  while (!text.empty()) {
    const auto [value, bytes] = assay::first_code_point(text);
    const bool is_control = value < 0x20 || (value >= 0x7F && value < 0xA0);
    if (is_control && !allowed.contains(static_cast<char>(value))) {
      return true;
    }
    text.remove_prefix(bytes);
  }
  return false;
}

/// Counts the cells that a reader of RFC 4180 finds in a file of one row.
std::size_t count_csv_cells(std::string_view line) {
  std::size_t cells = 1;
  bool is_quoted = false;
  for (const char c : line.substr(0, line.size() - 1)) {
    is_quoted = c == '"' ? !is_quoted : is_quoted;
    ASSAY_CHECK(is_quoted || c != '\n');
    cells += !is_quoted && c == ',' ? 1 : 0;
  }
  ASSAY_CHECK(!is_quoted && line.ends_with('\n'));
  return cells;
}

void write_csv(std::string_view text) {
  std::ostringstream out;
  write_csv_row({{"a", std::string(text)}, {"b", "x"}}, out);
  ASSAY_CHECK(!has_control(out.str(), "\n\t") && count_csv_cells(out.str()) == 2);
  const auto cell = out.str();
  const bool is_formula = cell.starts_with('=') || cell.starts_with("\"=") || cell.starts_with('@');
  ASSAY_CHECK(!is_formula);
}

void write_xml(std::string_view text) {
  const auto escaped = xml_escaped(text);
  ASSAY_CHECK(!has_control(escaped, "\n\t") && escaped.find_first_of("<>\"") == std::string::npos);
  ASSAY_CHECK(assay::valid_utf8(escaped) == escaped);
}

void write_markdown(std::string_view text) {
  const auto escaped = markdown_escaped(text);
  ASSAY_CHECK(!has_control(escaped, "") && escaped.find_first_of("<@") == std::string::npos);
  for (auto at = escaped.find('|'); at != std::string::npos; at = escaped.find('|', at + 1)) {
    ASSAY_CHECK(at > 0 && escaped[at - 1] == '\\');
  }
}

void write_json(std::string_view text) {
  const auto line = dumped(OrderedJson{{"text", std::string(text)}});
  ASSAY_CHECK(line.find('\n') == std::string::npos && assay::parse_json(line, "line"));
}

void write_html(std::string_view text) {
  const assay::ReportStyle style{.site = assay::SitePlace{}};
  const auto page = html_page({.title = std::string(text),
                               .data = dumped(OrderedJson{{"text", std::string(text)}}),
                               .assets = assay::report::run_page_assets()},
                              style);
  static const auto kEmpty =
      html_page({.title = "", .data = "{}", .assets = assay::report::run_page_assets()}, style);
  // The text adds no element, whatever it holds.
  ASSAY_CHECK(std::ranges::count(page, '<') == std::ranges::count(kEmpty, '<'));
}

/// First byte: the width.
void lay_out(std::string_view text) {
  if (text.empty()) {
    return;
  }
  const auto width = 8 + static_cast<std::size_t>(static_cast<unsigned char>(text.front())) % 100;
  const auto line = assay::printable(text.substr(1));
  ASSAY_CHECK(display_width(shortened(line, width)) <= width);
  std::istringstream lines(wrapped(line, width, 2));
  for (std::string one; std::getline(lines, one);) {
    ASSAY_CHECK(display_width(one) <= width + 2);
  }
  const TextTable table{.columns = {{.title = "a",
                                     .unit = {},
                                     .is_left = true,
                                     .importance = 100,
                                     .least_width = 4,
                                     .cells = {{.text = line, .colour = ""}}},
                                    {.title = "b", .unit = {}, .cells = {{"1", ""}}}},
                        .groups = {}};
  std::istringstream rows(table.lay_out(width, false).text);
  for (std::string one; std::getline(rows, one);) {
    ASSAY_CHECK(display_width(one) <= width);
  }
}

constexpr assay::FuzzedParser kParsers[] = {{'c', write_csv},      {'x', write_xml},
                                            {'m', write_markdown}, {'j', write_json},
                                            {'h', write_html},     {'w', lay_out}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return assay::run_fuzzed_parser(kParsers, data, size);
}
