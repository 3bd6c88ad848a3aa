#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The plan of a run that --dry-run prints.
namespace assay::cli {

struct PlannedCase {
  std::string key;
  std::string label;
  std::string place;                    ///< Device or queue; empty: this machine.
  std::optional<std::int64_t> last_ns;  ///< Time of its passes; 0: never run; absent: not known.
};

/// A case that is evaluated only, because others need its outputs.
struct PlannedReference {
  std::string label;
  std::string place;
  std::string engine;
  std::string refusal;  ///< Why it will not be there; empty: it will.
};

struct Plan {
  std::vector<PlannedCase> cases;
  std::vector<PlannedReference> references;
};

/// As --format asks for it: "json" or, with any other word, text.
std::string plan_in_format(const Plan& plan, std::string_view format);

/// A line a case, then their number.
std::string text_from_plan(const Plan& plan);

/// {"schema": "assay/plan/1", "cases": […], "evaluated_only": […]}, ended by a line feed.
std::string json_from_plan(const Plan& plan);

}  // namespace assay::cli
