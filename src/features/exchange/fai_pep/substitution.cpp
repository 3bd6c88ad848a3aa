#include "features/exchange/fai_pep/substitution.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {
namespace {

constexpr int kMostDepth = 100;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

/// The first "{name}" at or behind `from`.
struct Placeholder {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< Behind the closing brace.
  std::string name;
};

std::optional<Placeholder> find_placeholder(std::string_view text, std::size_t from) {
  for (auto open = text.find('{', from); open != std::string_view::npos;
       open = text.find('{', open + 1)) {
    auto end = open + 1;
    while (end < text.size() && is_name_byte(text[end])) {
      ++end;
    }
    if (end > open + 1 && end < text.size() && text[end] == '}') {
      return Placeholder{open, end + 1, std::string(text.substr(open + 1, end - open - 1))};
    }
  }
  return std::nullopt;
}

/// Replaces the placeholders of a text, and those of their values.
class Substitution {
 public:
  Substitution(const Lookup& lookup, const std::string& path) : lookup_(lookup), path_(path) {}

  /// `depth` counts the values that lead to this text.
  Result<std::string> expand(std::string_view text, int depth) {
    std::string whole;
    std::size_t from = 0;
    for (auto found = find_placeholder(text, 0); found; found = find_placeholder(text, from)) {
      whole += text.substr(from, found->begin - from);
      ASSAY_ASSIGN_OR_RETURN(const auto value, value_of(found->name));
      if (depth == kMostDepth) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("{}: its placeholders lead to each other without an end", path_));
      }
      ASSAY_ASSIGN_OR_RETURN(const auto part, expand(value, depth + 1));
      whole += part;
      from = found->end;
      if (whole.size() > kMostBytes) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("{}: its placeholders stand for more than 1 MB of text", path_));
      }
    }
    whole += text.substr(from);
    return whole;
  }

 private:
  [[nodiscard]] Result<std::string> value_of(const std::string& name) const {
    auto value = lookup_(name);
    if (!value) {
      return fail_with_context(std::move(value).error(), path_);
    }
    if (!value->has_value() || (*value)->empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: nothing is known of {{{}}}; give it with --set {}=VALUE", path_,
                              name, name));
    }
    return **std::move(value);
  }

  const Lookup& lookup_;
  const std::string& path_;
};

/// Reads words one after the other.
class WordReader {
 public:
  explicit WordReader(std::string_view command) : rest_(command) {}

  Result<std::vector<std::string>> read() {
    std::vector<std::string> words;
    while (skip_spaces()) {
      ASSAY_ASSIGN_OR_RETURN(words.emplace_back(), word());
    }
    return words;
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  /// Tells whether a word follows.
  bool skip_spaces() {
    while (!rest_.empty() && is_space(rest_.front())) {
      rest_.remove_prefix(1);
    }
    return !rest_.empty();
  }

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  Result<std::string> word() {
    std::string text;
    while (!rest_.empty() && !is_space(rest_.front())) {
      const char c = take();
      if (c == '\'' || c == '"') {
        ASSAY_ASSIGN_OR_RETURN(const auto part, quoted(c));
        text += part;
      } else if (c == '\\' && !rest_.empty()) {
        text += take();
      } else if (c == '\\') {
        return fail(ErrorCode::kInvalidArgument, "ends with a backslash");
      } else {
        text += c;
      }
    }
    return text;
  }

  Result<std::string> quoted(char quote) {
    std::string text;
    while (!rest_.empty()) {
      const char c = take();
      if (c == quote) {
        return text;
      }
      const bool is_escape = c == '\\' && quote == '"' && !rest_.empty() &&
                             (rest_.front() == '"' || rest_.front() == '\\');
      text += is_escape ? take() : c;
    }
    return fail(ErrorCode::kInvalidArgument, fmt::format("a quote {} is not closed", quote));
  }

  std::string_view rest_;
};

}  // namespace

Result<std::string> substituted(std::string_view text, const Lookup& lookup,
                                const std::string& path) {
  return Substitution(lookup, path).expand(text, 0);
}

std::optional<std::string> scalar_at(const Json& root, std::string_view path) {
  if (!root.is_object()) {
    return std::nullopt;
  }
  const Json* entry = &root;
  for (std::string_view rest = path; !rest.empty();) {
    const auto dot = std::min(rest.find('.'), rest.size());
    const auto found =
        entry->is_object() ? entry->find(std::string(rest.substr(0, dot))) : entry->end();
    if (found == entry->end()) {
      return std::nullopt;
    }
    entry = &*found;
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  if (entry->is_structured() || entry->is_null()) {
    return std::nullopt;
  }
  return unquoted_text(*entry);
}

Result<std::vector<std::string>> words_from_command(std::string_view command) {
  return WordReader(command).read();
}

}  // namespace assay::fai_pep
