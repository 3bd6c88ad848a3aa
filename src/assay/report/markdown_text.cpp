#include "assay/report/markdown_text.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/text.h"
#include "assay/report/format.h"
#include "assay/report/text_table.h"

namespace assay::report {
namespace {

constexpr std::string_view kSpecial = "\\`*_[]<>|~#@";

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '@') {
      out += "&#64;";  // Or it notifies somebody.
    } else {
      out += kSpecial.find(c) == std::string_view::npos ? std::string(1, c) : std::string("\\") + c;
    }
  }
  return out;
}

void write_markdown_table(const TextTable& table, std::ostream& out) {
  std::vector<std::string> head;
  std::vector<std::string> rule;
  for (const auto& column : table.columns) {
    head.push_back(column.unit.empty() ? markdown_escaped(column.title)
                                       : markdown_escaped(column.title + " " + column.unit));
    rule.emplace_back(column.is_left ? ":--" : "--:");
  }
  out << markdown_row(head) << markdown_row(rule);
  auto group = table.groups.begin();
  for (std::size_t row = 0; row < table.columns.front().cells.size(); ++row) {
    for (; group != table.groups.end() && group->first_row == row; ++group) {
      std::vector<std::string> line(table.columns.size());
      line.front() = fmt::format("**{}**", markdown_escaped(group->title));
      out << markdown_row(line);
    }
    std::vector<std::string> cells;
    std::ranges::transform(
        table.columns, std::back_inserter(cells),
        [row](const TextColumn& column) { return markdown_escaped(column.cells.at(row).text); });
    out << markdown_row(cells);
  }
}

}  // namespace assay::report
