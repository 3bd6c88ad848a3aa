#include "assay/campaign/callgrind_file.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/result.h"

namespace assay {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto space = std::min(line.find(' '), line.size());
    if (space > 0) {
      words.push_back(line.substr(0, space));
    }
    line.remove_prefix(std::min(space + 1, line.size()));
  }
  return words;
}

std::optional<std::int64_t> integer_from(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

/// Reads line by line: a cost belongs to the function that was named last.
class Reader {
 public:
  Status take(std::string_view line) {
    if (line.empty() || line.starts_with('#')) {
      return {};
    }
    if (const char first = line.front(); std::isdigit(static_cast<unsigned char>(first)) != 0 ||
                                         first == '+' || first == '-' || first == '*') {
      return take_cost(line);
    }
    if (line.starts_with("fn=")) {
      function_ = with_object(name_of(line.substr(3), functions_));
    } else if (line.starts_with("ob=")) {
      object_ = name_of(line.substr(3), objects_);
    } else if (line.starts_with("cfn=")) {  // A full name may stand here only.
      name_of(line.substr(4), functions_);
    } else if (line.starts_with("cob=")) {
      name_of(line.substr(4), objects_);
    } else if (line.starts_with("calls=")) {
      is_cost_of_call_ = true;
    } else {
      return take_header(line);
    }
    return {};
  }

  Result<CallgrindCosts> finish() {
    if (!has_events_ || costs_.total <= 0) {
      return fail(ErrorCode::kCorrupt,
                  "no events or no summary: this is no file of callgrind, or "
                  "the program did not end by itself");
    }
    return std::move(costs_);
  }

 private:
  Status take_header(std::string_view line) {
    if (line.starts_with("creator: ")) {
      costs_.tool = line.substr(9);
    } else if (line.starts_with("positions: ")) {
      positions_ = words_of(line.substr(11)).size();
    } else if (line.starts_with("events: ")) {
      has_events_ = true;
      const auto events = words_of(line.substr(8));
      if (events.empty() || events.front() != "Ir") {
        return fail(ErrorCode::kUnsupported,
                    fmt::format("'{}': instructions (Ir) must come first", line));
      }
    } else if (line.starts_with("summary: ") || line.starts_with("totals: ")) {
      const auto words = words_of(line);
      if (const auto total = words.size() > 1 ? integer_from(words[1]) : std::nullopt) {
        costs_.total = *total;
      }
    }
    return {};
  }

  /// "positions… cost…"; the line after calls= is what the callee cost, which is in the file there
  /// too.
  Status take_cost(std::string_view line) {
    if (is_cost_of_call_) {
      is_cost_of_call_ = false;
      return {};
    }
    const auto words = words_of(line);
    if (words.size() <= positions_) {
      return {};  // No cost at this place.
    }
    const auto cost = integer_from(words[positions_]);
    auto& own = costs_.own_by_function[function_];
    if (!cost || *cost < 0 || *cost > std::numeric_limits<std::int64_t>::max() - own) {
      return fail(ErrorCode::kCorrupt, fmt::format("'{}' is not a cost line", line));
    }
    own += *cost;
    return {};
  }

  /// "(12) name" names it, "(12)" means it again, "name" stands for itself.
  using Names = std::map<std::string, std::string>;
  static std::string name_of(std::string_view text, Names& names) {
    const auto close = text.find(')');
    if (!text.starts_with('(') || close == std::string_view::npos ||
        !integer_from(text.substr(1, close - 1))) {
      return std::string(text);
    }
    auto& name = names[std::string(text.substr(0, close + 1))];
    if (close + 2 < text.size()) {
      name = text.substr(close + 2);
    }
    return name;
  }

  /// An address means something in its library only.
  [[nodiscard]] std::string with_object(const std::string& function) const {
    const bool has_name = !function.starts_with("0x") && !function.starts_with("???");
    return has_name || object_.empty()
               ? function
               : fmt::format("{} in {}", function,
                             std::filesystem::path(object_).filename().string());
  }

  CallgrindCosts costs_;
  Names functions_;
  Names objects_;
  std::string object_;
  std::string function_;
  std::size_t positions_ = 1;
  bool has_events_ = false;
  bool is_cost_of_call_ = false;
};

}  // namespace

Result<CallgrindCosts> callgrind_costs_from_text(std::string_view text) {
  Reader reader;
  int number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    ++number;
    if (auto taken = reader.take(text.substr(0, end)); !taken) {
      return fail(taken.error().code, fmt::format("line {}: {}", number, taken.error().message));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

}  // namespace assay
