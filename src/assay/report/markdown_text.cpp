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

constexpr std::string_view kSpecial = "\\`*_[]>|~#";

/// True if the dot at `at` is that of "www.", in any case of its letters.
bool is_dot_of_www(std::string_view text, std::size_t at) {
  constexpr std::size_t kLength = 3;
  return at >= kLength && std::ranges::all_of(text.substr(at - kLength, kLength),
                                              [](char c) { return c == 'w' || c == 'W'; });
}

/// Stands for a character that no backslash takes its meaning: a reference, mathematics, a
/// name that would be notified, an address that would be a link. Empty: none is needed.
std::string_view entity_for(std::string_view text, std::size_t at) {
  switch (text[at]) {
    case '<':
      return "&lt;";
    case '&':
      return "&amp;";
    case '$':
      return "&#36;";
    case '@':
      return "&#64;";
    case ':':
      return text.substr(at + 1).starts_with("//") ? "&#58;" : "";
    case '.':
      return is_dot_of_www(text, at) ? "&#46;" : "";
    default:
      return "";
  }
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  const auto shown = printable(text);
  std::string out;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    if (const auto entity = entity_for(std::string_view(shown), i); !entity.empty()) {
      out += entity;
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
