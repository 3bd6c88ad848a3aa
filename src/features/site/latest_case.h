#pragma once

#include "features/site/index_rows.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/summary.h"

namespace assay::site {

/// Name of the quantity that every result has: how the case ended.
inline constexpr std::string_view kResultQuantity = "result";
/// Times of the timing pass.
inline constexpr std::string_view kTimesQuantity = "times";

/// Something that a run looked at in a case. Passes are no part of a case's key, so one run has
/// the times of a case and another one its accuracy: each quantity has a newest value of its own.
struct Quantity {
  std::string name;      ///< "result", "times", "memory", "program", "accuracy float32", …
  bool is_sound = true;  ///< False: the pass came to no end, and any other value is preferred.
};

/// Lists what was looked at in a case, each once.
std::vector<Quantity> quantities_of(const CaseSummary& summary);

/// All of them in one text, in which each quantity_mark() is found.
std::string quantities_text(const CaseSummary& summary);
std::string quantity_mark(const Quantity& quantity);

/// The quantity that a metric is a part of; a metric that is a part of no other is its own.
std::string quantity_of_metric(const std::string& metric);

/// The run that a value comes from.
struct ValueSource {
  std::string run;
  std::int64_t started_unix_ns = 0;
  Outcome outcome = Outcome::kSkipped;  ///< The outcome of the case in it.
};

/// A case over all runs: the newest value of each quantity.
struct LatestCase {
  CaseRow row;  ///< Its run and start are those of the newest source.
  std::map<std::string, ValueSource> sources;  ///< Keyed by quantity.

  /// The source of a metric.
  [[nodiscard]] ValueSource source_of(const std::string& metric) const;
  /// The source of a quantity; the row's own run if there is none.
  [[nodiscard]] ValueSource source_of_quantity(std::string_view quantity) const;
};

/// Takes each quantity from its newest row; `rows`: by quantity, one of them kResultQuantity. The
/// verdict is that of all axes together.
LatestCase latest_from_rows(const std::map<std::string, const CaseRow*>& rows);

ASSAY_DECLARE_JSON(ValueSource);
/// The row's fields, and "sources".
void to_json(Json& json, const LatestCase& latest);

}  // namespace assay::site
