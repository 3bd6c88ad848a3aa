#include "assay/report/shared_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/text.h"
#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/report/case_text.h"
#include "assay/report/format.h"

namespace assay::report {
namespace {

/// Texts that differ only in numbers are shown as one from this many on.
constexpr std::size_t kMany = 4;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// The end of the digits that begin at `at`.
std::size_t end_of_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) {
    ++at;
  }
  return at;
}

/// The number that begins at `at`, "12" or "12.5"; empty if a word does.
std::string_view number_at(std::string_view text, std::size_t at) {
  const auto ends_at = [text](std::size_t end) {
    return end == text.size() || !is_word(text[end]);
  };
  const auto whole = end_of_digits(text, at);
  const bool has_fraction =
      whole + 1 < text.size() && text[whole] == '.' && is_digit(text[whole + 1]);
  if (const auto end = has_fraction ? end_of_digits(text, whole + 1) : whole; ends_at(end)) {
    return text.substr(at, end - at);
  }
  return ends_at(whole) ? text.substr(at, whole - at) : std::string_view();
}

/// The numbers of a text that are no part of a word, in order. Notes are written by engines, and
/// may be one long number.
std::vector<std::string_view> numbers_in(std::string_view text) {
  std::vector<std::string_view> numbers;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    const bool is_in_word = at > 0 && is_word(text[at - 1]);
    const auto number = is_in_word ? std::string_view() : number_at(text, at);
    if (!number.empty()) {
      numbers.push_back(number);
    }
    at = number.empty() ? end_of_digits(text, at) : at + number.size();
  }
  return numbers;
}

/// The text with another one in place of each number.
template <class Replacement>
std::string with_numbers_replaced(std::string_view text, Replacement replacement) {
  std::string out;
  std::size_t rest = 0;
  for (const auto number : numbers_in(text)) {
    const auto begin = static_cast<std::size_t>(number.data() - text.data());
    out += text.substr(rest, begin - rest);
    out += replacement(out);
    rest = begin + number.size();
  }
  out += text.substr(rest);
  return out;
}

/// A printable text has no control characters, so that none reads like a number's place.
std::string skeleton_of(const std::string& text) {
  return with_numbers_replaced(text, [](const std::string&) { return "\x01"; });
}

/// Infinite where it is too large for a double.
double value_of(std::string_view number) {
  double value = 0;
  const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc() ? value : std::numeric_limits<double>::infinity();
}

using Numbers = std::vector<std::string_view>;

/// "5" where all have it, else "5 to 12.5", or the larger one alone as a limit.
std::string range_of(const std::vector<Numbers>& alike, std::size_t index, bool is_limit) {
  const auto [least, most] = std::ranges::minmax(
      alike, {}, [index](const Numbers& numbers) { return value_of(numbers[index]); });
  return is_limit || least[index] == most[index]
             ? std::string(most[index])
             : fmt::format("{} to {}", least[index], most[index]);
}

/// One of the texts, with ranges in place of its numbers.
std::string with_ranges(const std::string& text, const std::vector<Numbers>& alike) {
  std::size_t index = 0;
  return with_numbers_replaced(text, [&](const std::string& before) {
    return range_of(alike, index++, before.ends_with("up to "));
  });
}

/// Notes that differ by numbers only become one where they are many.
std::vector<SharedNote> merge_alike(std::vector<SharedNote> notes) {
  const auto texts = [&notes] {
    std::vector<std::string> all;
    std::ranges::transform(notes, std::back_inserter(all), &SharedNote::text);
    return all;
  }();
  std::map<std::string, std::vector<Numbers>> families;  // By skeleton; views of `texts`.
  std::vector<std::string> skeletons;
  for (const auto& text : texts) {
    skeletons.push_back(skeleton_of(text));
    families[skeletons.back()].push_back(numbers_in(text));
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
      merged.push_back({.text = with_ranges(texts[i], family), .cases = {}});
    }
    std::ranges::copy(notes[i].cases, std::back_inserter(merged[place->second].cases));
  }
  return merged;
}

std::vector<SharedNote> shared_texts(const std::vector<CaseSummary>& cases,
                                     std::vector<std::string> CaseSummary::* texts) {
  std::vector<SharedNote> notes;
  std::map<std::string, std::size_t> places;
  for (const auto& cell : cases) {
    for (const auto& one : cell.*texts) {
      const auto text = printable(one);
      const auto [place, is_new] = places.emplace(text, notes.size());
      if (is_new) {
        notes.push_back({.text = text, .cases = {}});
      }
      notes[place->second].cases.push_back(&cell);
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
  std::vector<Finding> findings;
  for (const auto& cell : cases) {
    const auto sentences = findings_of(cell);
    if (cell.verdict != Verdict::kPass && !sentences.empty()) {
      findings.push_back({.verdict = cell.verdict,
                          .title = title_of(cell),
                          .text = fmt::format("{}", fmt::join(sentences, "; "))});
    }
  }
  return findings;
}

}  // namespace assay::report
