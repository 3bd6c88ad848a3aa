#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/bounded_document.h"
#include "assay/report/conformance_formats.h"
#include "assay/report/html_page.h"
#include "assay/report/writer.h"

namespace assay::report {
namespace {

bool has_passed(const Json& result) {
  return result.at("verdict") == std::string(name_of(ConformVerdict::kPass)) &&
         result.at("known") == std::string(name_of(KnownGap::kNone));
}

constexpr auto kConformanceParts = std::to_array<OptionalPart>({
    {"how cases that passed were judged",
     [](Json& result) {
       if (has_passed(result)) {
         for (const auto* field :
              {"case_key", "text", "command", "operators_left", "alone", "stage", "reason_code",
               "error_bound_ratio", "issue", "last_words", "known_reason", "unchanged_since"}) {
           result.erase(field);
         }
       }
     }},
    {"the last words of processes", [](Json& result) { result["last_words"] = ""; }},
    {"the commands that repeat single cases", [](Json& result) { result["command"] = ""; }},
});

}  // namespace

Status conformance_to_html(const ConformReport& report, const ReportStyle& style,
                           std::ostream& out) {
  auto [head, results] = document_parts(report);
  head["run"].erase("spec");
  out << html_page(
      {.title = "Conformance: " + report.suite,
       .data = bounded_document(std::move(head), "results", std::move(results), kConformanceParts,
                                [](const Json& result) { return has_passed(result) ? 1 : 0; }),
       .assets = conformance_page_assets(),
       .has_charts = false},
      style);
  return {};
}

}  // namespace assay::report
