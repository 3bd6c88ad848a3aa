#include "assay/report/text_table.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "assay/report/format.h"

namespace assay::report {
namespace {

constexpr std::size_t kGap = 2;

std::size_t natural_width(const TextColumn& column) {
  std::size_t width = std::max(display_width(column.title), display_width(column.unit));
  for (const auto& cell : column.cells) {
    width = std::max(width, display_width(cell.text));
  }
  return column.most_width > 0 ? std::min(width, column.most_width) : width;
}

/// The columns that stay, with their widths.
struct Fit {
  std::vector<const TextColumn*> columns;
  std::vector<std::size_t> widths;

  [[nodiscard]] std::size_t total() const {
    const std::size_t gaps = columns.empty() ? 0 : (columns.size() - 1) * kGap;
    return std::accumulate(widths.begin(), widths.end(), gaps);
  }
  /// Shortens what may be shortened; false: it is not enough.
  bool shrink_to(std::size_t width) {
    for (std::size_t i = 0; i < columns.size() && total() > width; ++i) {
      if (columns[i]->least_width > 0 && widths[i] > columns[i]->least_width) {
        widths[i] -= std::min(total() - width, widths[i] - columns[i]->least_width);
      }
    }
    return total() <= width;
  }
};

Fit fit_of(std::vector<const TextColumn*> columns) {
  Fit fit{.columns = std::move(columns), .widths = {}};
  std::ranges::transform(fit.columns, std::back_inserter(fit.widths),
                         [](const TextColumn* column) { return natural_width(*column); });
  return fit;
}

/// Drops columns until the rest fits; `dropped` takes their titles.
Fit fit_into(std::vector<const TextColumn*> columns, std::size_t width,
             std::vector<std::string>& dropped) {
  while (true) {
    Fit fit = fit_of(columns);
    if (fit.total() <= width) {
      return fit;
    }
    const auto least = std::ranges::min_element(columns, {}, &TextColumn::importance);
    const bool may_shrink = (*least)->importance >= kImportant || columns.size() == 1;
    if (may_shrink && fit.shrink_to(width)) {
      return fit;
    }
    if (columns.size() == 1) {
      fit.widths.front() = width;
      return fit;
    }
    const auto& gone = **least;
    dropped.push_back(gone.unit.empty() ? gone.title : gone.title + " " + gone.unit);
    columns.erase(least);
  }
}

std::string padded(const std::string& text, std::size_t width, bool is_left) {
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return is_left ? text + space : space + text;
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

template <class CellText>
std::string line_of(const Fit& fit, std::size_t indent, CellText cell_text) {
  std::string line(indent, ' ');
  for (std::size_t i = 0; i < fit.columns.size(); ++i) {
    line += (i > 0 ? std::string(kGap, ' ') : "") + cell_text(*fit.columns[i], fit.widths[i]);
  }
  return line;
}

}  // namespace

std::string coloured(const std::string& text, const std::string& colour, bool has_colour) {
  return !has_colour || colour.empty() || text.empty() ? text
                                                       : "\x1b[" + colour + "m" + text + "\x1b[0m";
}

TextTable::Layout TextTable::lay_out(std::size_t width, bool has_colour) const {
  std::vector<const TextColumn*> all;
  all.reserve(columns.size());
  for (const auto& column : columns) {
    all.push_back(&column);
  }
  Layout layout;
  if (all.empty()) {
    return layout;
  }
  const Fit fit = fit_into(all, width > indent ? width - indent : 1, layout.dropped);
  const auto head = [&](const std::string TextColumn::* part) {
    append_line(layout.text, line_of(fit, indent, [&](const TextColumn& column, std::size_t w) {
                  return coloured(padded(shortened(column.*part, w), w, column.is_left), "2",
                                  has_colour);
                }));
  };
  head(&TextColumn::title);
  if (std::ranges::any_of(fit.columns, [](const auto* column) { return !column->unit.empty(); })) {
    head(&TextColumn::unit);
  }
  auto group = groups.begin();
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    for (; group != groups.end() && group->first_row == row; ++group) {
      append_line(layout.text, coloured(shortened(group->title, width), "1", has_colour));
    }
    append_line(layout.text, line_of(fit, indent, [&](const TextColumn& column, std::size_t w) {
                  const auto& cell = column.cells.at(row);
                  return coloured(padded(shortened(cell.text, w), w, column.is_left), cell.colour,
                                  has_colour);
                }));
  }
  return layout;
}

bool is_measured(const TextColumn& column) {
  return std::ranges::any_of(column.cells,
                             [](const TextCell& cell) { return cell.text != kNotMeasured; });
}

void add_if_measured(TextTable& table, TextColumn column) {
  if (is_measured(column)) {
    table.columns.push_back(std::move(column));
  }
}

}  // namespace assay::report
