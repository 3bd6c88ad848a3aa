#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::command {

/// Bytes of a line that patterns look at: matching takes time with the square of its length.
inline constexpr std::size_t kMostMatchedBytes = 1024;

/// The lines of what a command printed, each without its end; the visitor's failure ends it.
Status visit_lines(std::string_view printed, const std::function<Status(std::string_view)>& visit);

/// A regular expression (ECMAScript) that is looked for line by line in what a command prints.
/// Groups have numbers or, written (?<name>…), names. It may not refer back to a group, and its
/// time is bounded by its own size times the square of the line's length.
class LinePattern {
 public:
  /// Absent: it matches nothing.
  LinePattern() = default;

  /// `key` names the pattern in messages. Errors: kCorrupt for a bad expression and for one without
  /// a group.
  static Result<LinePattern> from_text(std::string key, const std::string& text);

  [[nodiscard]] bool is_absent() const { return text_.empty(); }
  /// The text that the pattern was made from.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t group_count() const { return regex_.mark_count(); }
  /// The number of a named group.
  [[nodiscard]] std::optional<std::size_t> find_group(std::string_view name) const;

  /// The text of a group in a match; empty if it took no part.
  using Groups = std::function<std::string_view(std::size_t group)>;
  /// The rest of a match's line: behind the match before it, and up to the end.
  struct Beside {
    std::string_view before;
    std::string_view after;
  };
  using Visitor = std::function<Status(const Groups& groups, const Beside& beside)>;

  struct Search {
    int matches = 0;
    bool has_long_lines = false;  ///< Only the beginning of these was looked at.
  };

  /// Visits the matches in order; the visitor's failure ends it.
  [[nodiscard]] Result<Search> visit_matches(std::string_view printed, const Visitor& visit) const;

 private:
  Status visit_line(std::string_view line, const Visitor& visit, Search& search) const;

  std::string text_;
  std::regex regex_;
  std::map<std::string, std::size_t, std::less<>> names_;
};

}  // namespace assay::command
