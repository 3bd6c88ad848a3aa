#include "assay/engines/command/command_program.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/engines/command/line_pattern.h"
#include "assay/engines/command/quantity.h"
#include "assay/record/metric.h"

namespace assay::command {
namespace {

constexpr double kLeastTimeoutS = 1e-3;
constexpr double kMostTimeoutS = 1e6;
constexpr std::size_t kMostProgramMetrics = 50;

constexpr auto kKeys = std::to_array<std::string_view>(
    {"$schema",          "about",         "argv",         "steps",     "places",
     "unsupported",      "read_files",    "pause_s",      "env",       "inputs",
     "outputs",          "file_format",   "time_pattern", "time_unit", "metrics",
     "operator_pattern", "operator_unit", "observer",     "reads",     "timeout_s"});
constexpr auto kMetricKeys =
    std::to_array<std::string_view>({"pattern", "unit", "per", "better", "take", "optional"});
constexpr auto kPlaceKeys = std::to_array<std::string_view>({"md5"});
constexpr std::size_t kMostIdentifierBytes = 64;

/// Refuses an unknown key; `context` opens the message.
Status check_keys(const Json& json, std::span<const std::string_view> keys,
                  std::string_view context) {
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (const auto& [key, ignored] : json.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}unknown key '{}'{}", context, key, suggestion_for(key, known)));
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

/// Reads one of a few words likewise.
template <NamedEnum E>
Status read_word(const Json& json, const char* key, E& target) {
  std::vector<std::string_view> words;
  std::ranges::transform(kEnumNames<E>, std::back_inserter(words), &EnumName<E>::second);
  const auto wanted = fmt::format("one of {}", fmt::join(words, ", "));
  auto word = std::string(name_of(target));
  ASSAY_RETURN_IF_ERROR(read_key(json, key, wanted.c_str(), word));
  const auto value = find_enum<E>(word);
  if (!value) {
    return fail(ErrorCode::kCorrupt, fmt::format("\"{}\" is {}, not '{}'", key, wanted, word));
  }
  target = *value;
  return {};
}

Status read_pattern(const Json& json, const char* key, const std::string& path,
                    LinePattern& target) {
  std::string text;
  ASSAY_RETURN_IF_ERROR(read_key(json, key, "a string", text));
  ASSAY_ASSIGN_OR_RETURN(target, LinePattern::from_text(path, text));
  return {};
}

Status read_time_unit(const Json& json, const char* key, Unit& target) {
  auto name = std::string(target.name);
  ASSAY_RETURN_IF_ERROR(read_key(json, key, "s, ms, us or ns", name));
  ASSAY_ASSIGN_OR_RETURN(target, time_unit_from_text(key, name));
  return {};
}

Result<MetricPattern> metric_from(const std::string& name, const Json& json) {
  const auto path = "metrics." + name;
  if (!is_program_metric_name(name)) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("\"{}\": a name has letters, digits, _ and ., at most 64", path));
  }
  if (!json.is_object() || !json.contains("pattern")) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("\"{}\" must be an object with a \"pattern\"", path));
  }
  ASSAY_RETURN_IF_ERROR(check_keys(json, kMetricKeys, fmt::format("\"{}\": ", path)));
  MetricPattern metric{.name = name};
  std::string unit = "count";
  std::string per = "launch";
  ASSAY_RETURN_IF_ERROR(read_pattern(json, "pattern", path + ".pattern", metric.pattern));
  ASSAY_RETURN_IF_ERROR(read_key(json, "unit", "a string", unit));
  ASSAY_RETURN_IF_ERROR(read_key(json, "per", "launch", per));
  ASSAY_RETURN_IF_ERROR(read_word(json, "take", metric.take));
  ASSAY_RETURN_IF_ERROR(read_key(json, "optional", "true or false", metric.is_optional));
  ASSAY_ASSIGN_OR_RETURN(metric.unit, unit_from_text(path + ".unit", unit));
  metric.better = metric.unit.better;
  ASSAY_RETURN_IF_ERROR(read_word(json, "better", metric.better));
  if (metric.pattern.is_absent() || per != "launch") {
    return fail(ErrorCode::kCorrupt,
                per == "launch"
                    ? fmt::format("\"{}.pattern\" is empty", path)
                    : fmt::format("\"{}.per\" is launch, not '{}': the times of inferences are "
                                  "\"time_pattern\"",
                                  path, per));
  }
  return metric;
}

Status read_metrics(const Json& json, CommandProgram& program) {
  const auto found = json.find("metrics");
  if (found == json.end()) {
    return {};
  }
  if (!found->is_object() || found->size() > kMostProgramMetrics) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("\"metrics\" must be an object of at most {} metrics, such as "
                            "{{\"p99\": {{\"pattern\": \"p99 ([0-9.]+) ms\", \"unit\": \"ms\"}}}}",
                            kMostProgramMetrics));
  }
  for (const auto& [name, metric] : found->items()) {
    ASSAY_ASSIGN_OR_RETURN(program.metrics.emplace_back(), metric_from(name, metric));
  }
  return {};
}

/// The two groups by their names, or the first and the second.
Status read_operators(const Json& json, CommandProgram& program) {
  auto& operators = program.operators;
  operators.unit = program.time_unit;
  ASSAY_RETURN_IF_ERROR(
      read_pattern(json, "operator_pattern", "operator_pattern", operators.pattern));
  ASSAY_RETURN_IF_ERROR(read_time_unit(json, "operator_unit", operators.unit));
  if (operators.pattern.is_absent()) {
    return {};
  }
  const auto name = operators.pattern.find_group("name");
  const auto time = operators.pattern.find_group("time");
  if (name.has_value() != time.has_value() || operators.pattern.group_count() < 2) {
    return fail(ErrorCode::kCorrupt,
                "\"operator_pattern\" needs two groups: (?<name>…) and (?<time>…), or the first "
                "for the name and the second for the time");
  }
  operators.name_group = name.value_or(operators.name_group);
  operators.time_group = time.value_or(operators.time_group);
  return {};
}

/// Any word: programs choose their own.
Status read_observer(const Json& json, CommandProgram& program) {
  ASSAY_RETURN_IF_ERROR(read_key(json, "observer", "a string", program.observer));
  const bool is_word = std::ranges::all_of(program.observer, [](char c) { return c > ' '; }) &&
                       program.observer.size() <= kMostIdentifierBytes;
  return is_word ? Status()
                 : fail(ErrorCode::kCorrupt,
                        "\"observer\" is a word without spaces, such as PyTorchObserver");
}

/// Seconds under a key, in ns.
Status read_seconds(const Json& json, const char* key, double least_s, std::int64_t& target_ns) {
  double seconds = static_cast<double>(target_ns) / 1e9;
  ASSAY_RETURN_IF_ERROR(read_key(json, key, "a number of seconds", seconds));
  if (!(seconds >= least_s && seconds <= kMostTimeoutS)) {
    return fail(ErrorCode::kCorrupt, fmt::format("\"{}\" is {}; it is from {} to {}", key, seconds,
                                                 least_s, kMostTimeoutS));
  }
  target_ns = static_cast<std::int64_t>(seconds * 1e9);
  return {};
}

Status read_places(const Json& json, CommandProgram& program) {
  const auto places = json.value("places", Json::object());
  if (!places.is_object()) {
    return fail(ErrorCode::kCorrupt, "\"places\" must be an object of names");
  }
  for (const auto& [name, place] : places.items()) {
    const auto path = "places." + name;
    if (!place.is_object()) {
      return fail(ErrorCode::kCorrupt, fmt::format("\"{}\" must be an object", path));
    }
    ASSAY_RETURN_IF_ERROR(check_keys(place, kPlaceKeys, fmt::format("\"{}\": ", path)));
    ASSAY_RETURN_IF_ERROR(read_key(place, "md5", "a string", program.places[name].md5));
  }
  return {};
}

/// "argv" or "steps", one of them.
Status read_steps(const Json& json, CommandProgram& program) {
  if (json.contains("argv") == json.contains("steps")) {
    return fail(ErrorCode::kCorrupt, "a command program has \"argv\" or \"steps\", one of them");
  }
  std::vector<std::string> argv;
  ASSAY_RETURN_IF_ERROR(read_key(json, "argv", "a list of strings", argv));
  ASSAY_RETURN_IF_ERROR(read_key(json, "steps", "a list of lists of strings", program.steps));
  if (json.contains("argv")) {
    program.steps = {std::move(argv)};
  }
  // A program that cannot run at all needs no step.
  const bool is_empty =
      (program.steps.empty() && !json.contains("unsupported")) ||
      std::ranges::any_of(program.steps, [](const auto& step) { return step.empty(); });
  return is_empty ? Status(fail(ErrorCode::kCorrupt, json.contains("argv")
                                                         ? "\"argv\" is empty"
                                                         : "\"steps\" has an empty step"))
                  : Status();
}

Result<CommandProgram> program_from(const Json& json, const std::filesystem::path& folder) {
  constexpr const char* kTensors = "a list of {\"name\", \"dtype\", \"shape\"}";
  if (!json.is_object()) {
    return fail(ErrorCode::kCorrupt, "a command program is an object with \"argv\"");
  }
  ASSAY_RETURN_IF_ERROR(check_keys(json, kKeys, ""));
  CommandProgram program{.folder = folder};
  ASSAY_RETURN_IF_ERROR(read_steps(json, program));
  ASSAY_RETURN_IF_ERROR(read_places(json, program));
  ASSAY_RETURN_IF_ERROR(read_key(json, "unsupported", "a string", program.unsupported));
  ASSAY_RETURN_IF_ERROR(read_key(json, "read_files", "a list of strings", program.read_files));
  ASSAY_RETURN_IF_ERROR(
      read_key(json, "env", "an object of variables and their values", program.env));
  ASSAY_RETURN_IF_ERROR(read_key(json, "inputs", kTensors, program.inputs));
  ASSAY_RETURN_IF_ERROR(read_key(json, "outputs", kTensors, program.outputs));
  ASSAY_RETURN_IF_ERROR(read_word(json, "file_format", program.format));
  ASSAY_RETURN_IF_ERROR(read_pattern(json, "time_pattern", "time_pattern", program.time_pattern));
  ASSAY_RETURN_IF_ERROR(read_time_unit(json, "time_unit", program.time_unit));
  ASSAY_RETURN_IF_ERROR(read_metrics(json, program));
  ASSAY_RETURN_IF_ERROR(read_operators(json, program));
  ASSAY_RETURN_IF_ERROR(read_observer(json, program));
  ASSAY_RETURN_IF_ERROR(read_word(json, "reads", program.reads));
  ASSAY_RETURN_IF_ERROR(read_seconds(json, "timeout_s", kLeastTimeoutS, program.timeout_ns));
  ASSAY_RETURN_IF_ERROR(read_seconds(json, "pause_s", 0, program.pause_ns));
  return program;
}

}  // namespace

bool CommandProgram::has_placeholder(std::string_view placeholder) const {
  return std::ranges::any_of(steps, [placeholder](const std::vector<std::string>& argv) {
    return std::ranges::any_of(argv, [placeholder](const std::string& argument) {
      return argument.find(placeholder) != std::string::npos;
    });
  });
}

Result<CommandProgram> read_command_program(const std::filesystem::path& path) {
  auto json = read_json_file(path);
  if (!json) {
    auto error = std::move(json).error();
    error.code = error.code == ErrorCode::kNotFound ? error.code : ErrorCode::kCorrupt;
    return std::unexpected(std::move(error));
  }
  auto program = program_from(*json, std::filesystem::absolute(path).parent_path());
  return program ? program
                 : Result<CommandProgram>(fail_with_context(program.error(), path.string()));
}

}  // namespace assay::command
