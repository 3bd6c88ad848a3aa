#include "assay/report/shared_text.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/text.h"
#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"
#include "assay/report/format.h"

namespace assay::report {
namespace {

/// So many that differ by numbers alone are told as one.
constexpr std::size_t kMany = 4;

const std::regex& number_pattern() {
  static const std::regex pattern(R"(\b\d+(\.\d+)?\b)");
  return pattern;
}

/// The text with its numbers taken out.
std::string skeleton_of(const std::string& text) {
  return std::regex_replace(text, number_pattern(), "#");
}

std::vector<std::string> numbers_in(const std::string& text) {
  return {std::sregex_token_iterator(text.begin(), text.end(), number_pattern()),
          std::sregex_token_iterator()};
}

/// "5" where all have it, else "5 to 12.5", or the larger one alone as a limit.
std::string range_of(const std::vector<std::vector<std::string>>& alike, std::size_t index,
                     bool is_limit) {
  const auto [least, most] = std::ranges::minmax(
      alike, {}, [index](const auto& numbers) { return std::stod(numbers[index]); });
  return is_limit || least[index] == most[index]
             ? most[index]
             : fmt::format("{} to {}", least[index], most[index]);
}

/// One of the texts, with ranges in place of its numbers.
std::string with_ranges(const std::string& text,
                        const std::vector<std::vector<std::string>>& alike) {
  std::string merged;
  std::size_t index = 0;
  auto rest = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), number_pattern()), end; found != end;
       ++found) {
    merged.append(rest, (*found)[0].first);
    merged += range_of(alike, index++, merged.ends_with("up to "));
    rest = (*found)[0].second;
  }
  return merged.append(rest, text.end());
}

/// Notes that differ by numbers only become one where they are many.
std::vector<SharedNote> merge_alike(std::vector<SharedNote> notes) {
  std::map<std::string, std::vector<std::vector<std::string>>> families;  // Numbers, by skeleton.
  std::vector<std::string> skeletons;
  for (const auto& note : notes) {
    skeletons.push_back(skeleton_of(note.text));
    families[skeletons.back()].push_back(numbers_in(note.text));
  }
  std::vector<SharedNote> merged;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const auto& family = families.at(skeletons[i]);
    if (family.size() < kMany) {
      merged.push_back(std::move(notes[i]));
      continue;
    }
    const auto [place, is_new] = places.emplace(skeletons[i], merged.size());
    if (is_new) {
      merged.push_back({.text = with_ranges(notes[i].text, family), .cases = {}});
    }
    std::ranges::copy(notes[i].cases, std::back_inserter(merged[place->second].cases));
  }
  return merged;
}

std::vector<SharedNote> shared_texts(const std::vector<CaseSummary>& cases,
                                     std::vector<std::string> CaseSummary::* texts) {
  std::vector<SharedNote> notes;
  for (const auto& cell : cases) {
    for (const auto& one : cell.*texts) {
      const auto text = printable(one);
      const auto found = std::ranges::find(notes, text, &SharedNote::text);
      auto& shared =
          found == notes.end() ? notes.emplace_back(SharedNote{.text = text, .cases = {}}) : *found;
      shared.cases.push_back(&cell);
    }
  }
  return merge_alike(std::move(notes));
}

}  // namespace

std::vector<SharedNote> shared_notes(const std::vector<CaseSummary>& cases) {
  return shared_texts(cases, &CaseSummary::notes);
}

std::vector<SharedNote> shared_warnings(const std::vector<CaseSummary>& cases) {
  return shared_texts(cases, &CaseSummary::warnings);
}

std::string concerned_by(const SharedNote& note, const std::vector<CaseSummary>& cases) {
  std::vector<std::string> names;
  std::set<std::string> recipes;
  for (const auto* cell : note.cases) {
    names.push_back(title_of(*cell));
    recipes.insert(printable(cell->recipe));
  }
  if (names.size() == cases.size() && names.size() > 1) {
    return "all cases";
  }
  if (names.size() <= 2) {
    return fmt::format("{}", fmt::join(names, ", "));
  }
  const auto of_these_recipes = std::ranges::count_if(
      cases, [&](const CaseSummary& cell) { return recipes.contains(printable(cell.recipe)); });
  if (static_cast<std::size_t>(of_these_recipes) == names.size()) {
    return fmt::format("all of {}", fmt::join(recipes, ", "));
  }
  return fmt::format("{} of {}", names.size(), counted(cases.size(), "case"));
}

std::vector<Finding> all_findings(const std::vector<CaseSummary>& cases) {
  std::map<Timing, SharedNote> timings;
  for (const auto& cell : cases) {
    if (is_timing_only(cell)) {
      timings[cell.timing].cases.push_back(&cell);
    }
  }
  std::vector<Finding> findings;
  for (const auto& cell : cases) {
    const auto sentences = findings_of(cell);
    const bool is_one_of_many = is_timing_only(cell) && timings[cell.timing].cases.size() >= kMany;
    if (cell.verdict != Verdict::kPass && !sentences.empty() && !is_one_of_many) {
      findings.push_back({.verdict = cell.verdict,
                          .title = title_of(cell),
                          .text = fmt::format("{}", fmt::join(sentences, "; "))});
    }
  }
  for (const auto& [timing, shared] : timings) {
    if (shared.cases.size() >= kMany) {
      findings.push_back(
          {.verdict = Verdict::kInconclusive,
           .title = concerned_by(shared, cases),
           .text = fmt::format("timing {}: intervals in the table, causes in the notes",
                               name_of(timing))});
    }
  }
  return findings;
}

}  // namespace assay::report
