#pragma once

#include <cstddef>
#include <string>

#include "assay/base/json.h"
#include "assay/record/stored_comparison.h"

namespace assay::report {

/// A case of two runs in words, as the console and the site show it.
struct StoredRow {
  std::string label;
  std::string a;  ///< Medians with their units.
  std::string b;
  std::string launches;          ///< "6, 6"
  std::string change;            ///< "+2.0", "+3.00 count"
  std::string change_with_unit;  ///< "+2.0 % time", "+3.00 count"
  std::string interval;
  std::string p_value;
  std::string sign;  ///< "worse: compare in pairs", "none"
  bool is_nominated = false;
};

std::vector<StoredRow> rows_from_stored(const StoredComparison& comparison);
/// Says how many may have changed, and how much that means.
std::string answer_from_stored(const StoredComparison& comparison);
/// Sentences on cases in one run alone, and what else to know.
std::vector<std::string> notes_from_stored(const StoredComparison& comparison);

/// Lists possible changes between two runs, case by case, and how weak the evidence is. Lines are
/// at most `width` columns wide.
std::string console_from_stored(const StoredComparison& comparison, std::size_t width,
                                bool has_colour);

/// Schema assay/stored-comparison/1: all of the record.
Json document_from_stored(const StoredComparison& comparison);

}  // namespace assay::report
