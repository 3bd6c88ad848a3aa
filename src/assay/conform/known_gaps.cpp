#include "assay/conform/known_gaps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/conform/conform_case.h"
#include "assay/conform/glob.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

constexpr std::string_view kSchema = "assay/known_gaps/1";

/// What is never excused by a pattern, and what a pattern is about.
constexpr auto kRefusals = std::to_array({ConformVerdict::kUnsupported, ConformVerdict::kAotError,
                                          ConformVerdict::kLoadError, ConformVerdict::kRunError});

bool is_refusal(ConformVerdict verdict) {
  return std::ranges::find(kRefusals, verdict) != kRefusals.end();
}

/// A place in the document, for messages.
struct Place {
  std::string_view origin;
  std::string path;

  [[nodiscard]] Place at(const std::string& step) const { return {origin, path + step}; }
  [[nodiscard]] std::unexpected<Error> refuse(std::string_view message) const {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {}{}{}", origin, path, path.empty() ? "" : ": ", message));
  }
};

Status check_keys(const Json& json, std::span<const std::string> keys, const Place& place) {
  if (!json.is_object()) {
    return place.refuse("must be an object");
  }
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(keys, key) == keys.end()) {
      return place.refuse(fmt::format("unknown key '{}'{}", key, suggestion_for(key, keys)));
    }
  }
  return {};
}

/// A text; "" where it is absent and need not be there.
Result<std::string> text_at(const Json& json, const char* key, bool is_required,
                            const Place& place) {
  const auto found = json.find(key);
  if (found == json.end() && !is_required) {
    return std::string();
  }
  if (found == json.end() || !found->is_string() || found->get_ref<const std::string&>().empty()) {
    return place.refuse(fmt::format("needs a \"{}\", a text", key));
  }
  return found->get<std::string>();
}

/// The fields of a pattern by their key.
constexpr auto kPatternFields = std::to_array<std::pair<const char*, std::string GapPattern::*>>(
    {{"case", &GapPattern::case_name},
     {"operator", &GapPattern::operator_name},
     {"dtype", &GapPattern::dtype},
     {"shape_class", &GapPattern::shape_class},
     {"values", &GapPattern::values}});

Result<GapPattern> pattern_from(const Json& json, const Place& place) {
  std::vector<std::string> keys;
  keys.reserve(kPatternFields.size());
  for (const auto& [key, field] : kPatternFields) {
    keys.emplace_back(key);
  }
  ASSAY_RETURN_IF_ERROR(check_keys(json, keys, place));
  if (json.empty()) {
    return place.refuse("is empty and would match everything; name an operator or a dtype");
  }
  GapPattern pattern;
  for (const auto& [key, field] : kPatternFields) {
    ASSAY_ASSIGN_OR_RETURN(pattern.*field, text_at(json, key, false, place));
  }
  return pattern;
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

Result<GapPattern> match_at(const Json& json, const Place& place) {
  const auto found = json.find("match");
  return found == json.end()
             ? place.refuse("needs a \"match\", such as {\"operator\": \"aten.x*\"}")
             : pattern_from(*found, place.at("/match"));
}

Result<UnsupportedGap> unsupported_from(const Json& json, const Place& place) {
  const auto keys = std::to_array<std::string>({"match", "reason"});
  ASSAY_RETURN_IF_ERROR(check_keys(json, keys, place));
  UnsupportedGap gap;
  ASSAY_ASSIGN_OR_RETURN(gap.match, match_at(json, place));
  ASSAY_ASSIGN_OR_RETURN(gap.reason, text_at(json, "reason", true, place));
  return gap;
}

Result<LooserBound> looser_from(const Json& json, const Place& place) {
  const auto keys = std::to_array<std::string>({"match", "error_bound_ratio", "reason"});
  ASSAY_RETURN_IF_ERROR(check_keys(json, keys, place));
  LooserBound bound;
  ASSAY_ASSIGN_OR_RETURN(bound.match, match_at(json, place));
  ASSAY_ASSIGN_OR_RETURN(bound.reason, text_at(json, "reason", true, place));
  const auto ratio = json.value("error_bound_ratio", Json());
  if (!ratio.is_number() || !(ratio.get<double>() > 1)) {
    return place.refuse("\"error_bound_ratio\" must be a number above 1");
  }
  bound.error_bound_ratio = ratio.get<double>();
  return bound;
}

Result<ConformVerdict> verdict_from(const std::string& name, const Place& place) {
  const auto verdict = find_enum<ConformVerdict>(name);
  if (verdict && is_failure(*verdict)) {
    return *verdict;
  }
  std::vector<std::string> names;
  for (const auto& [known, text] : kEnumNames<ConformVerdict>) {
    if (is_failure(known)) {
      names.emplace_back(text);
    }
  }
  return place.refuse(
      fmt::format("'{}' is no verdict of a failure{}", name, suggestion_for(name, names)));
}

Result<KnownFailure> failure_from(const Json& json, const Place& place) {
  const auto keys = std::to_array<std::string>({"case", "verdict", "reason", "issue"});
  ASSAY_RETURN_IF_ERROR(check_keys(json, keys, place));
  KnownFailure failure;
  ASSAY_ASSIGN_OR_RETURN(failure.case_name, text_at(json, "case", true, place));
  ASSAY_ASSIGN_OR_RETURN(const auto verdict, text_at(json, "verdict", true, place));
  ASSAY_ASSIGN_OR_RETURN(failure.verdict, verdict_from(verdict, place));
  ASSAY_ASSIGN_OR_RETURN(failure.reason, text_at(json, "reason", true, place));
  ASSAY_ASSIGN_OR_RETURN(failure.issue, text_at(json, "issue", false, place));
  return failure;
}

template <class Entry>
Result<std::vector<Entry>> entries_of(const Json& document, const char* key, const Place& place,
                                      Result<Entry> (*read)(const Json&, const Place&)) {
  const auto list = document.value(key, Json::array());
  if (!list.is_array()) {
    return place.at(key).refuse("must be a list");
  }
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < list.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(auto entry, read(list[i], place.at(fmt::format("{}[{}]", key, i))));
    entries.push_back(std::move(entry));
  }
  return entries;
}

const KnownFailure* find_failure(const KnownGaps& gaps, std::string_view name) {
  const auto found = std::ranges::find(gaps.known_failures, name, &KnownFailure::case_name);
  return found == gaps.known_failures.end() ? nullptr : &*found;
}

const UnsupportedGap* find_unsupported(const KnownGaps& gaps, const CaseTraits& traits) {
  const auto found = std::ranges::find_if(
      gaps.unsupported, [&](const UnsupportedGap& gap) { return is_match(gap.match, traits); });
  return found == gaps.unsupported.end() ? nullptr : &*found;
}

/// What the sets of options of each case came to.
struct Ran {
  int passed = 0;
  int failed_as_listed = 0;
  int failed = 0;
};

std::map<std::string, Ran> count_by_name(const KnownGaps& gaps,
                                         const std::vector<ConformResult>& results) {
  std::map<std::string, Ran> counts;
  for (const auto& result : results) {
    if (result.recipe != gaps.recipe || result.verdict == ConformVerdict::kNotRun) {
      continue;
    }
    auto& ran = counts[result.name];
    const auto* listed = find_failure(gaps, result.name);
    ran.passed += result.verdict == ConformVerdict::kPass ? 1 : 0;
    ran.failed += is_failure(result.verdict) ? 1 : 0;
    ran.failed_as_listed += listed != nullptr && listed->verdict == result.verdict ? 1 : 0;
  }
  return counts;
}

void apply_to(const KnownGaps& gaps, bool is_any_failing, ConformResult& result) {
  const auto* failure = find_failure(gaps, result.name);
  const auto* gap = find_unsupported(gaps, traits_of(result));
  if (result.verdict == ConformVerdict::kPass) {
    const bool is_stale = failure != nullptr && !is_any_failing;
    result.known = is_stale ? KnownGap::kUnexpectedPass : KnownGap::kNone;
    result.known_reason = is_stale ? failure->reason : "";
  } else if (failure != nullptr && failure->verdict == result.verdict) {
    result.known = KnownGap::kKnownFailure;
    result.known_reason = failure->reason;
    result.issue = failure->issue;
  } else if (gap != nullptr && is_refusal(result.verdict)) {
    result.known = KnownGap::kUnsupported;
    result.known_reason = gap->reason;
  } else {
    result.known = KnownGap::kNewFailure;
  }
}

std::string one_line(const std::string& text) {
  auto line = text.substr(0, text.find('\n'));
  constexpr std::size_t kMostBytes = 200;
  return line.size() <= kMostBytes ? line : line.substr(0, kMostBytes);
}

}  // namespace

std::string known_gaps_file_name(std::string_view recipe) {
  std::string name(recipe);
  std::ranges::replace_if(name, [](char c) { return c == '/' || c == ':'; }, '-');
  return name + ".json";
}

Result<KnownGaps> known_gaps_from_json(const Json& document, std::string_view origin) {
  const Place place{.origin = origin, .path = ""};
  const auto keys =
      std::to_array<std::string>({"schema", "recipe", "unsupported", "known_failures", "looser"});
  ASSAY_RETURN_IF_ERROR(check_keys(document, keys, place));
  if (document.value("schema", Json()) != kSchema) {
    return place.refuse(fmt::format("\"schema\" must be \"{}\"", kSchema));
  }
  KnownGaps gaps;
  ASSAY_ASSIGN_OR_RETURN(gaps.recipe, text_at(document, "recipe", true, place));
  ASSAY_ASSIGN_OR_RETURN(gaps.unsupported,
                         entries_of(document, "unsupported", place, unsupported_from));
  ASSAY_ASSIGN_OR_RETURN(gaps.known_failures,
                         entries_of(document, "known_failures", place, failure_from));
  ASSAY_ASSIGN_OR_RETURN(gaps.looser, entries_of(document, "looser", place, looser_from));
  std::set<std::string> names;
  for (const auto& failure : gaps.known_failures) {
    if (!names.insert(failure.case_name).second) {
      return place.refuse(
          fmt::format("known_failures: '{}' stands there twice", failure.case_name));
    }
  }
  return gaps;
}

Result<KnownGaps> read_known_gaps(const std::filesystem::path& folder, const std::string& recipe) {
  const auto path = folder / known_gaps_file_name(recipe);
  if (folder.empty() || !std::filesystem::exists(path)) {
    return KnownGaps{.recipe = recipe};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto document, read_json_file(path));
  ASSAY_ASSIGN_OR_RETURN(auto gaps, known_gaps_from_json(document, path.string()));
  if (gaps.recipe != recipe) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: holds the gaps of '{}', its name says '{}'", path.string(),
                            gaps.recipe, recipe));
  }
  return gaps;
}

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

bool is_listed(const KnownGaps& gaps, const ConformCase& one) {
  return find_failure(gaps, one.name) != nullptr ||
         find_unsupported(gaps, traits_of(one)) != nullptr || find_looser(gaps, one).has_value();
}

bool is_as_listed(const KnownGaps& gaps, const ConformCase& one, ConformVerdict verdict) {
  const auto* failure = find_failure(gaps, one.name);
  return (failure != nullptr && failure->verdict == verdict) ||
         (is_refusal(verdict) && find_unsupported(gaps, traits_of(one)) != nullptr);
}

std::optional<LooserBound> find_looser(const KnownGaps& gaps, const ConformCase& one) {
  const auto found = std::ranges::find_if(
      gaps.looser, [&](const LooserBound& bound) { return is_match(bound.match, traits_of(one)); });
  return found == gaps.looser.end() ? std::nullopt : std::optional(*found);
}

void apply_known_gaps(const KnownGaps& gaps, std::vector<ConformResult>& results) {
  const auto counts = count_by_name(gaps, results);
  for (auto& result : results) {
    if (const auto ran = counts.find(result.name); ran != counts.end() &&
                                                   result.recipe == gaps.recipe &&
                                                   result.verdict != ConformVerdict::kNotRun) {
      apply_to(gaps, ran->second.failed > 0, result);
    }
  }
}

std::vector<StaleGap> find_stale_gaps(const KnownGaps& gaps,
                                      const std::vector<ConformResult>& results) {
  std::vector<StaleGap> stale;
  const auto counts = count_by_name(gaps, results);
  for (const auto& failure : gaps.known_failures) {
    const auto ran = counts.find(failure.case_name);
    if (ran != counts.end() && ran->second.passed > 0 && ran->second.failed == 0) {
      stale.push_back({.recipe = gaps.recipe, .entry = failure.case_name, .why = "it passes"});
    }
  }
  for (const auto& gap : gaps.unsupported) {
    int passed = 0;
    int failed = 0;
    for (const auto& result : results) {
      if (result.recipe == gaps.recipe && is_match(gap.match, traits_of(result))) {
        passed += result.verdict == ConformVerdict::kPass ? 1 : 0;
        failed += is_failure(result.verdict) ? 1 : 0;
      }
    }
    if (passed > 0 && failed == 0) {
      stale.push_back({.recipe = gaps.recipe,
                       .entry = json_from(gap.match).dump(),
                       .why = fmt::format("all {} cases that it means pass", passed)});
    }
  }
  return stale;
}

KnownGaps updated_gaps(const KnownGaps& gaps, const std::vector<ConformResult>& results) {
  auto updated = gaps;
  const auto stale = find_stale_gaps(gaps, results);
  const auto is_stale = [&](const std::string& entry) {
    return std::ranges::find(stale, entry, &StaleGap::entry) != stale.end();
  };
  std::erase_if(updated.known_failures,
                [&](const KnownFailure& one) { return is_stale(one.case_name); });
  std::erase_if(updated.unsupported,
                [&](const UnsupportedGap& one) { return is_stale(json_from(one.match).dump()); });
  for (const auto& result : results) {
    const bool is_ours = result.recipe == gaps.recipe && result.known == KnownGap::kNewFailure;
    const bool is_listable =
        is_fault_of_backend(result.verdict) || result.verdict == ConformVerdict::kUnsupported;
    if (!is_ours || !is_listable) {
      continue;
    }
    const auto known =
        std::ranges::find(updated.known_failures, result.name, &KnownFailure::case_name);
    if (known != updated.known_failures.end()) {
      known->verdict = result.verdict;
    } else {
      updated.known_failures.push_back(
          {.case_name = result.name,
           .verdict = result.verdict,
           .reason =
               one_line(result.text.empty() ? std::string("not looked into yet") : result.text),
           .issue = {}});
    }
  }
  std::ranges::sort(updated.known_failures, {}, &KnownFailure::case_name);
  return updated;
}

Json document_from_known_gaps(const KnownGaps& gaps) {
  Json document = {{"schema", kSchema},
                   {"recipe", gaps.recipe},
                   {"unsupported", Json::array()},
                   {"known_failures", Json::array()}};
  for (const auto& gap : gaps.unsupported) {
    document["unsupported"].push_back({{"match", json_from(gap.match)}, {"reason", gap.reason}});
  }
  for (const auto& failure : gaps.known_failures) {
    document["known_failures"].push_back(
        {{"case", failure.case_name}, {"verdict", failure.verdict}, {"reason", failure.reason}});
    if (!failure.issue.empty()) {
      document["known_failures"].back()["issue"] = failure.issue;
    }
  }
  for (const auto& bound : gaps.looser) {
    document["looser"].push_back({{"match", json_from(bound.match)},
                                  {"error_bound_ratio", bound.error_bound_ratio},
                                  {"reason", bound.reason}});
  }
  return document;
}

Status write_known_gaps(const std::filesystem::path& folder, const KnownGaps& gaps) {
  const auto document = document_from_known_gaps(gaps);
  // An entry a line, so that a change of the lists reads well in a diff.
  std::string text = fmt::format("{{\n  \"schema\": {},\n  \"recipe\": {}",
                                 document.at("schema").dump(), document.at("recipe").dump());
  for (const auto* key : {"unsupported", "known_failures", "looser"}) {
    const auto entries = document.value(key, Json());
    if (!entries.is_array()) {
      continue;
    }
    text += fmt::format(",\n  \"{}\": [", key);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      text += (i == 0 ? "\n    " : ",\n    ") +
              entries[i].dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    text += entries.empty() ? "]" : "\n  ]";
  }
  return write_file_atomically(folder / known_gaps_file_name(gaps.recipe), text + "\n}\n");
}

}  // namespace assay
