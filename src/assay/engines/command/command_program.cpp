#include "assay/engines/command/command_program.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/engine/session.h"

namespace assay::command {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
    {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1.0}}};
constexpr std::string_view kThreads = "{threads}";
constexpr std::size_t kMostShown = 200;
constexpr double kMostTimeoutS = 1e6;
constexpr std::size_t kMostLineBytes = 1024;
constexpr std::size_t kMostPatternBytes = 1024;

Result<double> unit_from(const std::string& name) {
  for (const auto& [unit, ns] : kUnits) {
    if (unit == name) {
      return ns;
    }
  }
  return fail(ErrorCode::kCorrupt, fmt::format("\"time_unit\" is s, ms, us or ns, not '{}'", name));
}

/// Compiled for the matcher of libstdc++ that follows all alternatives at once: its time is bounded
/// by the pattern's size times the square of the line's length, and its stack by the pattern alone.
/// The usual one takes exponential time for "(a+)+" and a stack frame for each character.
Result<std::regex> pattern_from_text(const std::string& text) {
  if (text.size() > kMostPatternBytes) {
    return fail(ErrorCode::kCorrupt, fmt::format("\"time_pattern\" has {} bytes; at most {}",
                                                 text.size(), kMostPatternBytes));
  }
  try {
    return std::regex(text, std::regex::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::kCorrupt,
                error.code() == std::regex_constants::error_complexity
                    ? "\"time_pattern\" refers back to a group (\\1): name what is repeated"
                    : fmt::format("\"time_pattern\": {}", error.what()));
  }
}

constexpr auto kKeys =
    std::to_array<std::string_view>({"$schema", "argv", "inputs", "outputs", "file_format",
                                     "time_pattern", "time_unit", "timeout_s"});

Status check_keys(const Json& json) {
  if (!json.is_object()) {
    return fail(ErrorCode::kCorrupt, "a command program is an object with \"argv\"");
  }
  const std::vector<std::string> known(kKeys.begin(), kKeys.end());
  for (const auto& [key, ignored] : json.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("unknown key '{}'{}", key, suggestion_for(key, known)));
    }
  }
  for (const char* needed : {"argv", "outputs"}) {
    if (!json.contains(needed)) {
      return fail(ErrorCode::kCorrupt, fmt::format("needs \"{}\"", needed));
    }
  }
  return {};
}

/// Replaces `target` by the value of a key that is there. `wanted` says what the value must be.
template <class T>
Status read_key(const Json& json, const char* key, const char* wanted, T& target) {
  const auto found = json.find(key);
  if (found == json.end()) {
    return {};
  }
  try {
    found->get_to(target);
  } catch (const std::exception&) {  // Json's, and those of its conversions.
    return fail(ErrorCode::kCorrupt, fmt::format("\"{}\" must be {}", key, wanted));
  }
  return {};
}

Result<CommandProgram> program_from(const Json& json, const std::filesystem::path& folder) {
  constexpr const char* kTensors = "a list of {\"name\", \"dtype\", \"shape\"}";
  CommandProgram program{.folder = folder};
  std::string format = "raw";
  std::string unit = "ms";
  double timeout_s = static_cast<double>(program.timeout_ns) / 1e9;
  ASSAY_RETURN_IF_ERROR(check_keys(json));
  ASSAY_RETURN_IF_ERROR(read_key(json, "argv", "a list of strings", program.argv));
  ASSAY_RETURN_IF_ERROR(read_key(json, "inputs", kTensors, program.inputs));
  ASSAY_RETURN_IF_ERROR(read_key(json, "outputs", kTensors, program.outputs));
  ASSAY_RETURN_IF_ERROR(read_key(json, "file_format", "raw or npy", format));
  ASSAY_RETURN_IF_ERROR(read_key(json, "time_pattern", "a string", program.pattern_text));
  ASSAY_RETURN_IF_ERROR(read_key(json, "time_unit", "s, ms, us or ns", unit));
  ASSAY_RETURN_IF_ERROR(read_key(json, "timeout_s", "a number of seconds", timeout_s));
  if (program.argv.empty()) {
    return fail(ErrorCode::kCorrupt, "\"argv\" is empty");
  }
  if (format != "raw" && format != "npy") {
    return fail(ErrorCode::kCorrupt,
                fmt::format("\"file_format\" is raw or npy, not '{}'", format));
  }
  program.format = format == "npy" ? FileFormat::kNpy : FileFormat::kRaw;
  ASSAY_ASSIGN_OR_RETURN(program.pattern, pattern_from_text(program.pattern_text));
  if (!program.pattern_text.empty() && program.pattern.mark_count() < 1) {
    return fail(ErrorCode::kCorrupt,
                "\"time_pattern\" has no group: put the number into parentheses");
  }
  ASSAY_ASSIGN_OR_RETURN(program.unit_ns, unit_from(unit));
  if (!(timeout_s > 0 && timeout_s <= kMostTimeoutS)) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("\"timeout_s\" is {}; it is above 0, and at most {}", timeout_s,
                            kMostTimeoutS));
  }
  program.timeout_ns = static_cast<std::int64_t>(timeout_s * 1e9);
  return program;
}

/// "{input:0}" and the like, with the place that they are numbers of.
Result<std::string> numbered(std::string_view name, const std::vector<std::string>& files) {
  std::size_t index = 0;
  const auto colon = name.find(':');
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + colon + 1, end, index);
  if (error != std::errc() || at != end || index >= files.size()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("there is nothing for {{{}}}: the program declares {}", name, files.size()));
  }
  return files[index];
}

Result<std::string> value_of(std::string_view name, const CommandProgram& program,
                             const Values& values) {
  if (name == "iterations") {
    return std::to_string(values.iterations);
  }
  if (name == "folder") {
    return program.folder.string();
  }
  if (name == "threads" && values.threads > 0) {
    return std::to_string(values.threads);
  }
  if (name.starts_with("input:")) {
    return numbered(name, values.inputs);
  }
  if (name.starts_with("output:")) {
    return numbered(name, values.outputs);
  }
  return fail(ErrorCode::kInvalidArgument,
              name == "threads"
                  ? "the command takes {threads}: say how many by the option threads"
                  : fmt::format("unknown placeholder {{{}}}; known are iterations, threads, "
                                "folder, input:N, output:N, inputs, outputs",
                                name));
}

Result<std::string> expanded(const std::string& text, const CommandProgram& program,
                             const Values& values) {
  std::string result;
  std::size_t at = 0;
  for (auto open = text.find('{'); open != std::string::npos; open = text.find('{', at)) {
    const auto close = text.find('}', open);
    if (close == std::string::npos) {
      break;
    }
    result += text.substr(at, open - at);
    const std::string_view name(text.data() + open + 1, close - open - 1);
    ASSAY_ASSIGN_OR_RETURN(const auto value, value_of(name, program, values));
    result += value;
    at = close + 1;
  }
  return result + text.substr(at);
}

/// The step of a number's last digit: 0.01 for "12.50", 1 for "3".
double step_from_text(std::string_view number) {
  const auto exponent = std::min(number.find_first_of("eE"), number.size());
  const auto point = std::min(number.find('.'), exponent);
  const auto digits = point == exponent ? 0 : exponent - point - 1;
  return std::pow(10.0, -static_cast<double>(digits));
}

/// A whole decimal number of at least 0 that is a time within a day.
Result<double> time_ns_from_text(std::string_view text, const CommandProgram& program) {
  constexpr double kMostNs = 24.0 * 3600 * 1e9;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(std::to_address(text.begin()), end, number);
  const double ns = number * program.unit_ns;
  if (error == std::errc() && rest == end && ns >= 0 && ns <= kMostNs && !std::signbit(number)) {
    return ns;
  }
  return fail(ErrorCode::kEngine,
              fmt::format("'{}', which '{}' takes out of what the command printed, is no time: a "
                          "decimal number with a point, from 0 to a day",
                          text.substr(0, kMostShown), program.pattern_text));
}

struct PrintedTimes {
  SelfTimer::Times times;
  bool has_long_lines = false;  ///< Only the beginning of these was looked at.
};

/// The times in one line. Only its beginning is looked at: matching takes time with the square of
/// a line's length.
Status take_times(const CommandProgram& program, std::string_view line, PrintedTimes& found) {
  found.has_long_lines = found.has_long_lines || line.size() > kMostLineBytes;
  line = line.substr(0, kMostLineBytes);
  const auto end = std::cregex_iterator();
  for (auto it = std::cregex_iterator(line.data(), line.data() + line.size(), program.pattern);
       it != end; ++it) {
    const auto& group = (*it)[1];
    const std::string_view text(group.first, static_cast<std::size_t>(group.length()));
    ASSAY_ASSIGN_OR_RETURN(const auto ns, time_ns_from_text(text, program));
    found.times.ns.push_back(std::llround(ns));
    const auto step_ns = std::llround(step_from_text(text) * program.unit_ns);
    auto& coarsest_ns = found.times.clock_resolution_ns;
    coarsest_ns = std::max<std::int64_t>(coarsest_ns, step_ns);
  }
  return {};
}

}  // namespace

Result<CommandProgram> read_command_program(const std::filesystem::path& path) {
  auto json = read_json_file(path);
  if (!json) {
    auto error = std::move(json).error();
    error.code = error.code == ErrorCode::kNotFound ? error.code : ErrorCode::kCorrupt;
    return std::unexpected(std::move(error));
  }
  try {
    auto program = program_from(*json, std::filesystem::absolute(path).parent_path());
    return program ? program
                   : Result<CommandProgram>(fail_with_context(program.error(), path.string()));
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: \"time_pattern\": {}", path.string(), error.what()));
  }
}

bool takes_threads(const CommandProgram& program) {
  return std::ranges::any_of(program.argv, [](const std::string& argument) {
    return argument.find(kThreads) != std::string::npos;
  });
}

Result<std::vector<std::string>> argv_from(const CommandProgram& program, const Values& values) {
  std::vector<std::string> argv;
  for (const auto& argument : program.argv) {
    if (argument == "{inputs}" || argument == "{outputs}") {
      const auto& files = argument == "{inputs}" ? values.inputs : values.outputs;
      argv.insert(argv.end(), files.begin(), files.end());
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(argv.emplace_back(), expanded(argument, program, values));
  }
  if (argv.front().find('/') != std::string::npos) {
    argv.front() = (program.folder / argv.front()).string();
  }
  return argv;
}

Result<SelfTimer::Times> times_from(const CommandProgram& program, const std::string& printed,
                                    int count) {
  PrintedTimes found;
  std::string_view rest(printed);
  while (!rest.empty()) {
    const auto end = std::min(rest.find_first_of("\r\n"), rest.size());
    ASSAY_RETURN_IF_ERROR(take_times(program, rest.substr(0, end), found));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (found.times.ns.size() == static_cast<std::size_t>(count)) {
    return std::move(found.times);
  }
  const auto cut = found.has_long_lines
                       ? fmt::format(" in the first {} bytes of its lines", kMostLineBytes)
                       : std::string();
  return fail(ErrorCode::kEngine,
              fmt::format("the command printed {} times of {} that match '{}'{}; it printed: {}",
                          found.times.ns.size(), count, program.pattern_text, cut,
                          printed.substr(0, kMostShown)));
}

}  // namespace assay::command
