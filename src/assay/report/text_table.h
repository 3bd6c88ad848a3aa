#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay::report {

/// A cell: its text, and the SGR parameters of its colour ("31"), used on terminals only.
struct TextCell {
  std::string text;
  std::string colour;
};

struct TextColumn {
  std::string title;
  std::string unit;             ///< Second line of the head; empty: none.
  bool is_left = false;         ///< Text to the left, numbers to the right.
  int importance = 0;           ///< The column of least importance goes first.
  std::size_t most_width = 0;   ///< Longer texts are shortened; 0: never.
  std::size_t least_width = 0;  ///< Shrinks to this before important columns go; 0: never.
  std::vector<TextCell> cells;  ///< One a row.
};

/// A line over the rows that follow it, up to the next one.
struct TextGroup {
  std::size_t first_row = 0;
  std::string title;
};

/// Columns of at least this importance go only when shortening texts was not enough.
inline constexpr int kImportant = 50;

/// A table that fits: columns go, least important first, until every line is at most
/// `width` columns wide; what went is told.
struct TextTable {
  std::vector<TextColumn> columns;
  std::vector<TextGroup> groups;
  std::size_t indent = 0;

  struct Layout {
    std::string text;                  ///< Lines, each ended by a line feed.
    std::vector<std::string> dropped;  ///< Titles of the columns that found no room.
  };
  [[nodiscard]] Layout lay_out(std::size_t width, bool has_colour) const;
};

/// True if a cell has more than kNotMeasured.
bool is_measured(const TextColumn& column);

/// Adds a column that has something to show.
void add_if_measured(TextTable& table, TextColumn column);

/// `text` in an SGR colour, or as it is.
std::string coloured(const std::string& text, const std::string& colour, bool has_colour);

}  // namespace assay::report
