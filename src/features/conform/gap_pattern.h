#pragma once

#include "features/conform/conform_case.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/json.h"
#include "assay/record/conformance.h"

namespace assay {

/// Which cases an entry of the known gaps means: all that is given here must match.
struct GapPattern {
  std::string case_name;      ///< Pattern of names; empty: any.
  std::string operator_name;  ///< Pattern of operators; empty: any.
  std::string dtype;          ///< Pattern of dtypes; empty: any.
  std::string shape_class;    ///< Likewise,
  std::string values;         ///< likewise.
};

/// The fields of a pattern by their key in documents.
inline constexpr auto kPatternFields =
    std::to_array<std::pair<const char*, std::string GapPattern::*>>(
        {{"case", &GapPattern::case_name},
         {"operator", &GapPattern::operator_name},
         {"dtype", &GapPattern::dtype},
         {"shape_class", &GapPattern::shape_class},
         {"values", &GapPattern::values}});

/// Properties of a case that the patterns match.
struct CaseTraits {
  std::string_view name;
  std::string_view operator_name;
  std::string_view dtype;
  std::string_view shape_class;
  std::string_view values;
};
CaseTraits traits_of(const ConformCase& one);
CaseTraits traits_of(const ConformResult& result);

bool is_match(const GapPattern& pattern, const CaseTraits& traits);

/// {"operator": "aten.x*"}: what is given.
Json json_from(const GapPattern& pattern);

}  // namespace assay
