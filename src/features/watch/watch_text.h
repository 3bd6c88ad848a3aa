#pragma once

#include "features/repository/repository_spec.h"
#include "features/watch/change_check.h"
#include "features/watch/next_steps.h"
#include "features/watch/watch_view.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/comparison.h"
#include "assay/record/repository.h"

namespace assay::watch {

/// "3f2c1a9e0123  conv: simplify"
std::string text_of_revision(const Revision& revision);

/// The estimate as "effect" of an incident's attribution keeps it: ratio, scale and base.
PairEstimate estimate_from_effect(const Json& effect);

/// "+4.6 % [+3.6 %, +5.1 %], 20 pairs", or "+5 [+4, +6], 20 pairs" in the metric's unit where A is
/// 0: the effect that fresh pairs showed; empty: none did.
std::string text_of_effect(const Incident& incident);

/// "conv_dw +23 %, 134 % of the difference", a line for each row of RevisionRunner::explain.
std::vector<std::string> lines_of_operators(const Json& operators);

/// "conv_dw(float*) +2100000 instructions, 98 % of the difference", a line for each of the first
/// rows of RevisionRunner::count_instructions; none where nothing was counted.
std::vector<std::string> lines_of_functions(const Json& instructions);

/// A line about an event of a watcher (WatchListener); empty: nothing that a reader needs.
std::string line_of_event(const Json& event);

/// Counts the events of a watcher (WatchListener).
class EventCounts {
 public:
  void add(const Json& event);
  /// "10 commits measured, 1 cannot be built; 1 incident confirmed": all that is not 0.
  [[nodiscard]] std::string text() const;

 private:
  std::set<std::string> measured_;
  std::set<std::string> failed_;
  std::map<std::string, std::string> incidents_;  ///< The last state of each, by id.
};

/// A row for each step, and the time of all. `revisions`: those that the steps name. `seconds`:
/// that each step will take, as far as it is known.
std::string text_of_plan(const std::vector<WatchStep>& steps,
                         const std::vector<Revision>& revisions,
                         const std::vector<std::optional<double>>& seconds);

/// How much is measured and why not more, the open incidents, and what comes next.
std::string text_of_status(const WatchView& view, const std::vector<WatchStep>& steps,
                           const std::vector<std::optional<double>>& seconds,
                           std::int64_t now_unix_ns);

std::string text_of_change_check(const ChangeCheck& check);
/// A comment for a pull request.
std::string markdown_of_change(const ChangeCheck& check, const RepositorySpec& spec);
/// {"schema": "assay/change/1", "base", "head", "verdict", "text", "rows": […]}
Json document_of_change(const ChangeCheck& check);

/// Describes an incident in some lines: range or culprit, effect, operators, files, and the
/// command that shows it.
std::string text_of_incident(const Incident& incident, const WatchView& view);

}  // namespace assay::watch
