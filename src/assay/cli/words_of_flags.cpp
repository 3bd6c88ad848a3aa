#include "assay/cli/words_of_flags.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

using PathWords = std::pair<std::string_view, std::string_view>;

/// Paths, without places in lists, whose flag has another name.
constexpr auto kWholePaths = std::to_array<PathWords>({
    {"models", "model"},
    {"models.ref", "model"},
    {"recipes", "--recipe"},
    {"engines", "--engine"},
    {"devices", "--device"},
    {"options", "--option"},
    {"options.threads", "--threads"},
});

/// Beginnings of paths to a name that the user chose, and of the flag that has it in its value.
constexpr auto kNamedPaths = std::to_array<PathWords>({
    {"models.dimensions.", "--dimension "},
    {"recipes.", "--recipe "},
    {"options.", "--option "},
    {"scenario.", "--scenario "},
    {"require.", "--require "},
    {"labels.", "--label "},
});

/// Parts of a spec whose keys are flags.
constexpr auto kGroups = std::to_array<std::string_view>({"models.", "measure.", "evaluate."});

/// "models.inputs" of "models[0].inputs[0][1]".
std::string without_places(std::string_view path) {
  std::string text;
  int depth = 0;
  for (const char c : path) {
    depth += c == '[' ? 1 : 0;
    text += depth == 0 ? std::string(1, c) : "";
    depth -= c == ']' ? 1 : 0;
  }
  return text;
}

/// True for a text that begins with a key of a spec; in front of a colon a file may stand, too.
bool is_spec_path(std::string_view text) {
  const auto top = std::ranges::find(spec_keys(), "", &SpecKeys::path)->keys;
  return text.find_first_of(" '\"/") == std::string_view::npos &&
         std::ranges::find(top, text.substr(0, text.find_first_of(".["))) != top.end();
}

std::string line_in_words_of_flags(const std::string& line, const std::string& head) {
  const auto end = line.starts_with(head) ? line.find(": ", head.size()) : std::string::npos;
  const auto path =
      end == std::string::npos ? std::string() : line.substr(head.size(), end - head.size());
  return path.empty() || !is_spec_path(path)
             ? line
             : fmt::format("{}{}{}", head, flag_from_spec_path(path), line.substr(end));
}

}  // namespace

std::string flag_from_spec_path(std::string_view path) {
  const auto plain = without_places(path);
  if (plain == "models.inputs" && !path.ends_with("inputs")) {
    return "--input-shape";
  }
  if (const auto* whole = std::ranges::find(kWholePaths, plain, &PathWords::first);
      whole != kWholePaths.end()) {
    return std::string(whole->second);
  }
  for (const auto& [begin, flag] : kNamedPaths) {
    if (plain.starts_with(begin)) {
      return fmt::format("{}{}", flag, plain.substr(begin.size()));
    }
  }
  const auto* group = std::ranges::find_if(
      kGroups, [&plain](std::string_view begin) { return plain.starts_with(begin); });
  auto key = plain.substr(group == kGroups.end() ? 0 : group->size());
  key = key.substr(0, key.find('.'));
  std::ranges::replace(key, '_', '-');
  return "--" + key;
}

std::string in_words_of_flags(const std::string& message, std::string_view origin) {
  const auto head = fmt::format("{}: ", origin);
  std::istringstream lines(message);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += (text.empty() ? "" : "\n") + line_in_words_of_flags(line, head);
  }
  return text;
}

}  // namespace assay::cli
