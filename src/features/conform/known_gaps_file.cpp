#include "features/conform/known_gaps_file.h"

#include "features/conform/gap_pattern.h"
#include "features/conform/known_gaps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/record/conformance.h"
#include "assay/spec/node.h"

namespace assay {
namespace {

constexpr std::string_view kSchema = "assay/known_gaps/1";
constexpr auto kLists = std::to_array<std::string_view>(
    {"unsupported", "undelegated", "expected_failures", "relaxed_bounds"});

/// A text that is not empty; "" where it is absent and need not be there.
std::string text_at(const Node& node, std::string_view key, bool is_required) {
  const auto member = node.find(key);
  if (!member && !is_required) {
    return {};
  }
  const bool is_text = member && member->json().is_string() && !member->text().empty();
  if (!is_text) {
    node.complain(fmt::format("needs a \"{}\", a text", key));
    return {};
  }
  return member->text();
}

GapPattern pattern_from(const Node& node) {
  std::vector<std::string_view> keys;
  keys.reserve(std::size(kPatternFields));
  for (const auto& [key, field] : kPatternFields) {
    keys.emplace_back(key);
  }
  GapPattern pattern;
  if (!node.expect_object(keys)) {
    return pattern;
  }
  if (node.json().empty()) {
    node.complain("is empty and would match everything; name an operator or a dtype");
  }
  for (const auto& [key, field] : kPatternFields) {
    pattern.*field = text_at(node, key, false);
  }
  return pattern;
}

GapPattern match_at(const Node& node) {
  if (const auto match = node.find("match")) {
    return pattern_from(*match);
  }
  node.complain("needs a \"match\", such as {\"operator\": \"aten.x*\"}");
  return {};
}

ExcusedCases excused_from(const Node& node) {
  constexpr auto kKeys = std::to_array<std::string_view>({"match", "reason", "processor"});
  if (!node.expect_object(kKeys)) {
    return {};
  }
  return {.match = match_at(node),
          .reason = text_at(node, "reason", true),
          .processor = text_at(node, "processor", false)};
}

RelaxedBound relaxed_bound_from(const Node& node) {
  constexpr auto kKeys =
      std::to_array<std::string_view>({"match", "error_bound_ratio", "reason", "processor"});
  if (!node.expect_object(kKeys)) {
    return {};
  }
  RelaxedBound bound{.match = match_at(node),
                     .reason = text_at(node, "reason", true),
                     .processor = text_at(node, "processor", false)};
  const auto ratio = node.json().value("error_bound_ratio", Json());
  if (ratio.is_number() && ratio.get<double>() > 1) {
    bound.error_bound_ratio = ratio.get<double>();
  } else {
    node.complain("\"error_bound_ratio\" must be a number above 1");
  }
  return bound;
}

ConformVerdict verdict_at(const Node& node) {
  const auto name = text_at(node, "verdict", true);
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
  if (!name.empty()) {
    node.complain(
        fmt::format("'{}' is not the verdict of a failure{}", name, suggestion_for(name, names)));
  }
  return {};
}

KnownFailure failure_from(const Node& node) {
  constexpr auto kKeys =
      std::to_array<std::string_view>({"case", "verdict", "reason", "issue", "processor"});
  if (!node.expect_object(kKeys)) {
    return {};
  }
  return {.case_name = text_at(node, "case", true),
          .verdict = verdict_at(node),
          .reason = text_at(node, "reason", true),
          .issue = text_at(node, "issue", false),
          .processor = text_at(node, "processor", false)};
}

template <class Entry>
std::vector<Entry> entries_at(const Node& document, std::string_view key,
                              Entry (*read)(const Node&)) {
  std::vector<Entry> entries;
  if (const auto list = document.find(key)) {
    for (const auto& item : list->items()) {
      entries.push_back(read(item));
    }
  }
  return entries;
}

void check_twins(const Node& document, const std::vector<KnownFailure>& failures) {
  std::set<std::pair<std::string, std::string>> names;
  for (const auto& [name, verdict, reason, issue, processor] : failures) {
    if (!name.empty() && !names.emplace(name, processor).second) {
      document.complain(fmt::format("expected_failures: duplicate case '{}'{}", name,
                                    processor.empty() ? "" : " of processor " + processor));
    }
  }
}

KnownGaps gaps_from(const Node& document) {
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"schema", "recipe", "unsupported", "undelegated", "expected_failures", "relaxed_bounds"});
  if (!document.expect_object(kKeys)) {
    return {};
  }
  if (document.json().value("schema", Json()) != kSchema) {
    document.complain(fmt::format("\"schema\" must be \"{}\"", kSchema));
  }
  KnownGaps gaps{.recipe = text_at(document, "recipe", true),
                 .unsupported = entries_at(document, "unsupported", excused_from),
                 .undelegated = entries_at(document, "undelegated", excused_from),
                 .expected_failures = entries_at(document, "expected_failures", failure_from),
                 .relaxed_bounds = entries_at(document, "relaxed_bounds", relaxed_bound_from)};
  check_twins(document, gaps.expected_failures);
  return gaps;
}

/// Members whose texts are empty are left out.
Json with_texts(Json json, const std::string& issue, const std::string& processor) {
  if (!issue.empty()) {
    json["issue"] = issue;
  }
  if (!processor.empty()) {
    json["processor"] = processor;
  }
  return json;
}

Json json_from(const ExcusedCases& excused) {
  return with_texts({{"match", json_from(excused.match)}, {"reason", excused.reason}}, "",
                    excused.processor);
}

Json json_from(const KnownFailure& failure) {
  return with_texts(
      {{"case", failure.case_name}, {"verdict", failure.verdict}, {"reason", failure.reason}},
      failure.issue, failure.processor);
}

Json json_from(const RelaxedBound& bound) {
  return with_texts({{"match", json_from(bound.match)},
                     {"error_bound_ratio", bound.error_bound_ratio},
                     {"reason", bound.reason}},
                    "", bound.processor);
}

template <class Entry>
Json json_from_entries(const std::vector<Entry>& entries) {
  Json list = Json::array();
  for (const auto& entry : entries) {
    list.push_back(json_from(entry));
  }
  return list;
}

}  // namespace

std::string known_gaps_file_name(std::string_view recipe) {
  std::string name(recipe);
  std::ranges::replace_if(name, [](char c) { return c == '/' || c == ':'; }, '-');
  return name + ".json";
}

Result<KnownGaps> known_gaps_from_json(const Json& document, std::string_view origin) {
  Problems problems{std::string(origin)};
  auto gaps = gaps_from(Node(document, "", problems));
  ASSAY_RETURN_IF_ERROR(problems.status());
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

Json document_from_known_gaps(const KnownGaps& gaps) {
  Json document = {{"schema", kSchema},
                   {"recipe", gaps.recipe},
                   {"unsupported", json_from_entries(gaps.unsupported)},
                   {"expected_failures", json_from_entries(gaps.expected_failures)}};
  if (!gaps.undelegated.empty()) {
    document["undelegated"] = json_from_entries(gaps.undelegated);
  }
  if (!gaps.relaxed_bounds.empty()) {
    document["relaxed_bounds"] = json_from_entries(gaps.relaxed_bounds);
  }
  return document;
}

Status write_known_gaps(const std::filesystem::path& folder, const KnownGaps& gaps) {
  const auto document = document_from_known_gaps(gaps);
  // An entry a line, so that a change of the lists reads well in a diff.
  std::string text = fmt::format("{{\n  \"schema\": {},\n  \"recipe\": {}",
                                 document.at("schema").dump(), document.at("recipe").dump());
  for (const auto key : kLists) {
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
