#include "assay/engines/command/line_pattern.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/result.h"

namespace assay::command {
namespace {

constexpr std::size_t kMostPatternBytes = 1024;

/// A pattern without the names of its groups, which std::regex does not know, and their numbers.
struct Unnamed {
  std::string text;
  std::map<std::string, std::size_t, std::less<>> names;
};

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// The name of a group that opens at `at`: "(?<name>"; empty if none does.
std::string_view name_of_group(std::string_view text, std::size_t at) {
  constexpr std::string_view kOpening = "(?<";
  if (!text.substr(at).starts_with(kOpening)) {
    return {};
  }
  const auto rest = text.substr(at + kOpening.size());
  const auto name = rest.substr(0, std::min(rest.find('>'), rest.size()));
  return name.size() < rest.size() && is_name(name) ? name : std::string_view();
}

/// End of the character class or escape that begins at `at`; `at` + 1 for anything else.
std::size_t end_of_unit(std::string_view text, std::size_t at) {
  if (text[at] == '\\') {
    return std::min(at + 2, text.size());
  }
  if (text[at] != '[') {
    return at + 1;
  }
  auto end = at + 1;
  while (end < text.size() && text[end] != ']') {
    end = std::min(text[end] == '\\' ? end + 2 : end + 1, text.size());
  }
  return std::min(end + 1, text.size());
}

Unnamed without_names(std::string_view text) {
  Unnamed result;
  std::size_t groups = 0;
  for (std::size_t at = 0; at < text.size();) {
    auto end = end_of_unit(text, at);
    if (const auto name = name_of_group(text, at); !name.empty()) {
      result.names.emplace(name, ++groups);
      result.text += '(';
      end = text.find('>', at) + 1;
    } else {
      groups += text[at] == '(' && !text.substr(at).starts_with("(?") ? 1 : 0;
      result.text += text.substr(at, end - at);
    }
    at = end;
  }
  return result;
}

/// Compiled for the matcher of libstdc++ that follows all alternatives at once: its time is bounded
/// by the pattern's size times the square of the line's length, and its stack by the pattern alone.
/// The usual one takes exponential time for "(a+)+" and a stack frame for each character.
Result<std::regex> compiled(const std::string& key, const std::string& text) {
  try {
    return std::regex(text, std::regex::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::kCorrupt,
                error.code() == std::regex_constants::error_complexity
                    ? fmt::format("\"{}\" refers back to a group (\\1): name what is repeated", key)
                    : fmt::format("\"{}\": {}", key, error.what()));
  }
}

}  // namespace

Status visit_lines(std::string_view printed, const std::function<Status(std::string_view)>& visit) {
  while (!printed.empty()) {
    const auto end = std::min(printed.find_first_of("\r\n"), printed.size());
    ASSAY_RETURN_IF_ERROR(visit(printed.substr(0, end)));
    printed.remove_prefix(std::min(end + 1, printed.size()));
  }
  return {};
}

Result<LinePattern> LinePattern::from_text(std::string key, const std::string& text) {
  if (text.size() > kMostPatternBytes) {
    return fail(ErrorCode::kCorrupt, fmt::format("\"{}\" has {} bytes; at most {}", key,
                                                 text.size(), kMostPatternBytes));
  }
  LinePattern pattern;
  auto [unnamed, names] = without_names(text);
  ASSAY_ASSIGN_OR_RETURN(pattern.regex_, compiled(key, unnamed));
  if (!text.empty() && pattern.regex_.mark_count() < 1) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("\"{}\" has no group: put the number into parentheses", key));
  }
  pattern.text_ = text;
  pattern.names_ = std::move(names);
  return pattern;
}

std::optional<std::size_t> LinePattern::find_group(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

Status LinePattern::visit_line(std::string_view line, const Visitor& visit, Search& search) const {
  search.has_long_lines = search.has_long_lines || line.size() > kMostMatchedBytes;
  line = line.substr(0, kMostMatchedBytes);
  const auto end = std::cregex_iterator();
  for (auto it = std::cregex_iterator(line.data(), line.data() + line.size(), regex_); it != end;
       ++it) {
    ++search.matches;
    const auto text_of = [](const std::csub_match& found) {
      return found.matched ? std::string_view(found.first, static_cast<std::size_t>(found.length()))
                           : std::string_view();
    };
    ASSAY_RETURN_IF_ERROR(visit([&](std::size_t group) { return text_of((*it)[group]); },
                                {.before = text_of(it->prefix()), .after = text_of(it->suffix())}));
  }
  return {};
}

Result<LinePattern::Search> LinePattern::visit_matches(std::string_view printed,
                                                       const Visitor& visit) const {
  Search search;
  if (!is_absent()) {
    ASSAY_RETURN_IF_ERROR(visit_lines(printed, [this, &visit, &search](std::string_view line) {
      return visit_line(line, visit, search);
    }));
  }
  return search;
}

}  // namespace assay::command
