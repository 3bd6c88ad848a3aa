#include "assay/engines/openvino/engine_error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <exception>
#include <expected>
#include <fmt/format.h>
#include <new>
#include <openvino/core/except.hpp>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::openvino {
namespace {

constexpr std::size_t kMostCharacters = 600;

/// How OpenVINO words that it does not do something, in small letters.
constexpr std::array<std::string_view, 7> kRefusals = {"not supported",
                                                       "unsupported",
                                                       "not implemented",
                                                       "does not support",
                                                       "doesn't support",
                                                       "no conversion rule",
                                                       "doesn't contain the operation"};

/// The text without the paths in it, which may hold any word: all that is written in one piece with
/// a slash, and what the failure is about.
std::string without_paths(std::string_view text, std::string_view about) {
  std::string kept(text);
  for (auto at = about.empty() ? std::string::npos : kept.find(about); at != std::string::npos;
       at = kept.find(about, at)) {
    kept.erase(at, about.size());
  }
  constexpr std::string_view kEnds = " \t\r\n'\"`,;()";
  for (auto at = kept.find('/'); at != std::string::npos; at = kept.find('/', at)) {
    const auto before = kept.find_last_of(kEnds, at);
    const auto begin = before == std::string::npos ? 0 : before + 1;
    const auto end = std::min(kept.find_first_of(kEnds, at), kept.size());
    kept.erase(begin, end - begin);
    at = begin;
  }
  return kept;
}

bool is_refusal(std::string_view text, std::string_view about) {
  auto small = without_paths(text, about);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(
      kRefusals, [&small](std::string_view mark) { return small.find(mark) != std::string::npos; });
}

/// "Exception from src/…:132:" and "Check 'x' failed at src/…:12:".
bool is_place_in_sources(std::string_view line) {
  return line.ends_with(':') && (line.starts_with("Exception from ") ||
                                 line.find(" failed at ") != std::string_view::npos);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  const auto last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace

std::string readable_text(std::string_view text) {
  std::string kept;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && !is_place_in_sources(line)) {
      kept += (kept.empty() ? "" : "; ") + std::string(line);
    }
  }
  if (kept.empty()) {
    kept = trimmed(text);
  }
  return kept.size() > kMostCharacters ? kept.substr(0, kMostCharacters) + "…" : kept;
}

std::unexpected<Error> fail_with_exception(std::string_view what, ErrorCode otherwise,
                                           std::string_view about) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kExhausted, fmt::format("{}: out of memory", what));
  } catch (const ov::NotImplemented& error) {
    return fail(ErrorCode::kUnsupported, fmt::format("{}: {}", what, readable_text(error.what())));
  } catch (const std::exception& error) {
    const auto code = is_refusal(error.what(), about) ? ErrorCode::kUnsupported : otherwise;
    return fail(code, fmt::format("{}: {}", what, readable_text(error.what())));
  } catch (...) {
    return fail(otherwise, fmt::format("{}: OpenVINO threw no std::exception", what));
  }
}

}  // namespace assay::openvino
