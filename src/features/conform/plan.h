#pragma once

#include "features/conform/conform_case.h"
#include "features/conform/known_gaps.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/case.h"

namespace assay {

/// One conformance case with one recipe and one set of options.
struct ConformCell {
  std::size_t case_index = 0;     ///< Index into the listing's cases.
  std::size_t setting_index = 0;  ///< Index into the settings.
  Case eval_case;                 ///< The case alone, as `assay eval` would run it.
};

/// A recipe with engine and options, and what is known of it. `pattern`: a case whose model and
/// inputs are put in.
struct ConformSetting {
  Case pattern;
  KnownGaps gaps;
  GapContext gap_context;
};

/// Cells of one program: one alone, or several joined.
struct ConformUnit {
  std::vector<std::size_t> cells;  ///< Indices into the cells.
  [[nodiscard]] bool is_joint() const { return cells.size() > 1; }
};

struct ConformPlan {
  std::vector<ConformSetting> settings;
  std::vector<ConformCase> cases;
  std::vector<ConformCell> cells;  ///< Ordered by setting, then as in the listing.
  std::vector<ConformUnit> units;
};

/// How many cases share a program at most, and how dear it may be.
struct BatchLimits {
  std::size_t cases = 16;
  double cost = 64;
};

/// Every case with every setting. Cells that may be joined and are not listed in the known gaps
/// share programs with cells of their setting, dtype and inputs; all cases of an operator stand
/// together, so that an operator that cannot be made spoils one program and not many. The others
/// are alone. Deterministic, so that a run that is resumed finds its programs.
ConformPlan plan_conformance(std::vector<ConformCase> cases, std::vector<ConformSetting> settings,
                             const BatchLimits& limits);

/// The case that makes a unit's program: its only cell, or a model "joint" of all.
Case case_of(const ConformPlan& plan, const ConformUnit& unit);

/// Splits a unit that failed as a whole into the units to try next. Cells whose operator the error
/// names are tried alone, and the rest together. Where it names none, any cell may be to
/// blame: half of them each, cut between operators where there are several, and each alone where
/// they are few or all of one operator, which mostly fails for all its cases or for few.
std::vector<ConformUnit> split_unit(const ConformPlan& plan, const ConformUnit& unit,
                                    std::string_view error);

/// Kind of reference for a case: bounds around float64, or the quantized graph where the recipe
/// quantizes; "float32" for a model that brings no inputs, which has no bounds.
std::string reference_kind_of(const Case& cell);

}  // namespace assay
