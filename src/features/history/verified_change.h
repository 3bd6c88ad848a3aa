#pragma once

#include "features/history/series.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::history {

/// A suspicion that `assay watch` or `assay bisect` looked into with fresh pairs of both builds,
/// and what became of it. The texts are for people.
struct VerifiedChange {
  std::string series;   ///< Series::name of the series that changed.
  std::string metric;   ///< Its Series::metric.
  std::string machine;  ///< Its Series::machine; empty: unknown.
  std::string state;    ///< "confirmed", "fixed", "rejected", … (IncidentState)
  bool is_worse = true;
  std::string
      commit;  ///< Made the change; empty: it is one after `last_before` up to `first_after`.
  std::string subject;        ///< First line of its message.
  std::int64_t position = 0;  ///< Place of `commit`, or else of `first_after`.
  std::int64_t unix_ns = 0;   ///< Time of that commit.
  std::string last_before;
  std::string first_after;
  std::string effect;                ///< "+4.6 % [+3.6 %, +5.1 %], 20 pairs"
  std::vector<std::string> details;  ///< Operators, files and what else explains it, a line each.
  std::string command;               ///< Shows it.

  /// Tells if the series is the one that changed: by name, and by machine where there are several.
  [[nodiscard]] bool is_on(const Series& one) const;

  /// True if fresh pairs showed it, whatever became of it since, at one commit.
  [[nodiscard]] bool has_culprit() const;
};

}  // namespace assay::history
