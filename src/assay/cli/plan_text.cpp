#include "assay/cli/plan_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/units.h"
#include "assay/report/format.h"

namespace assay::cli {
namespace {

std::string at_place(const std::string& place) { return place.empty() ? "" : " on " + place; }

std::string text_of_last_time(const PlannedCase& cell) {
  return !cell.last_ns ? ""
         : *cell.last_ns == 0
             ? "never run"
             : "last time " + text_from_duration_ns(static_cast<double>(*cell.last_ns));
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

std::string plan_in_format(const Plan& plan, std::string_view format) {
  return format == "json" ? json_from_plan(plan) : text_from_plan(plan);
}

std::string text_from_plan(const Plan& plan) {
  std::string out;
  for (const auto& cell : plan.cases) {
    out += fmt::format("{}  {:<60} {}\n", cell.key.substr(0, 12), cell.label + at_place(cell.place),
                       text_of_last_time(cell));
  }
  out += report::counted(plan.cases.size(), "case") + "\n";
  for (const auto& reference : plan.references) {
    out +=
        fmt::format("evaluated only: {}{} on {}{}{}\n", reference.label, at_place(reference.place),
                    reference.engine, reference.refusal.empty() ? "" : ": ", reference.refusal);
  }
  return out;
}

std::string json_from_plan(const Plan& plan) {
  Json document = {
      {"schema", "assay/plan/1"}, {"cases", Json::array()}, {"evaluated_only", Json::array()}};
  for (const auto& cell : plan.cases) {
    const auto last_ns = cell.last_ns.value_or(0);
    document["cases"].push_back({{"key", cell.key},
                                 {"label", cell.label},
                                 {"device", text_or_null(cell.place)},
                                 {"last_ns", last_ns == 0 ? Json() : Json(last_ns)}});
  }
  for (const auto& reference : plan.references) {
    document["evaluated_only"].push_back({{"label", reference.label},
                                          {"device", text_or_null(reference.place)},
                                          {"engine", reference.engine},
                                          {"refusal", text_or_null(reference.refusal)}});
  }
  return document.dump(2) + "\n";
}

}  // namespace assay::cli
