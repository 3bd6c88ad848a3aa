#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::history {

/// Takes one record after the other out of a CSV text. A record may hold line ends inside of
/// quotes. Source: RFC 4180; LF alone ends a record, too, and empty lines are none.
class CsvText {
 public:
  explicit CsvText(std::string_view text);

  /// Fills `fields` (reused from record to record); false at the end.
  /// Errors: kInvalidArgument (a quote that does not end, text after one).
  Result<bool> next(std::vector<std::string>& fields);
  /// Line on which the last record began, from 1.
  [[nodiscard]] std::int64_t line() const { return line_; }

 private:
  Status take_quoted(std::string& field);

  std::string_view rest_;
  std::int64_t line_ = 0;
  std::int64_t next_line_ = 1;
};

/// A number, whole; nothing for anything else, NaN and infinities included.
std::optional<double> number_from_text(std::string_view text);

/// Seconds since 1970 (up to the year 2286), a date, or a date with a time and perhaps an offset,
/// as nanoseconds; without an offset UTC. Nothing for anything else.
std::optional<std::int64_t> unix_ns_from_text(std::string_view text);

}  // namespace assay::history
