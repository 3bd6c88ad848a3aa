#include "features/conform/gap_pattern.h"

#include "features/conform/conform_case.h"
#include "features/conform/glob.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/record/conformance.h"

namespace assay {

CaseTraits traits_of(const ConformCase& one) {
  return {one.name, one.operator_name, one.dtype, one.shape_class, one.values};
}

CaseTraits traits_of(const ConformResult& result) {
  return {result.name, result.operator_name, result.dtype, result.shape_class, result.values};
}

bool is_match(const GapPattern& pattern, const CaseTraits& traits) {
  const auto fits = [](const std::string& wanted, std::string_view text) {
    return wanted.empty() || is_glob_match(wanted, text);
  };
  return fits(pattern.case_name, traits.name) &&
         fits(pattern.operator_name, traits.operator_name) && fits(pattern.dtype, traits.dtype) &&
         fits(pattern.shape_class, traits.shape_class) && fits(pattern.values, traits.values);
}

Json json_from(const GapPattern& pattern) {
  Json json = Json::object();
  for (const auto& [key, field] : kPatternFields) {
    if (!(pattern.*field).empty()) {
      json[key] = pattern.*field;
    }
  }
  return json;
}

}  // namespace assay
