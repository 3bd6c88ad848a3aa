#include "features/reduce/finding.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/conformance.h"

namespace assay {

bool is_right(const ReduceFinding& finding) {
  return finding.verdict == ConformVerdict::kPass || finding.verdict == ConformVerdict::kVacuous;
}

std::string text_of_finding(const ReduceFinding& finding) {
  auto text = std::string(name_of(finding.verdict));
  if (finding.time_ratio) {
    text += fmt::format(", {:.2f} times as long", *finding.time_ratio);
  }
  if (!is_right(finding) && !finding.text.empty()) {
    text += ": " + finding.text.substr(0, finding.text.find('\n'));
  }
  return text;
}

ASSAY_DEFINE_JSON(ReduceFinding, verdict, stage, reason_code, text, delegation, operators_left,
                  time_ratio)

}  // namespace assay
