#include "features/exchange/fai_pep/program_document.h"

#include "features/exchange/fai_pep/composition.h"
#include "features/exchange/fai_pep/stand_ins.h"
#include "features/exchange/fai_pep/substitution.h"
#include "features/exchange/fai_pep/test_entry.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/scenario.h"

namespace assay::fai_pep {
namespace {

constexpr double kDefaultTimeoutS = 300;

/// The bits of a mask in hexadecimal digits, the lowest first; taskset takes "0x" before them and
/// commas between them. Empty for anything else.
std::vector<bool> bits_from_mask(std::string_view mask) {
  mask.remove_prefix(mask.starts_with("0x") || mask.starts_with("0X") ? 2 : 0);
  std::vector<bool> bits;
  for (const char c : std::views::reverse(mask)) {
    const std::string_view digits = "0123456789abcdef";
    const auto digit = digits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
    if (digit == std::string_view::npos && c != ',') {
      return {};
    }
    for (int bit = 0; bit < 4 && c != ','; ++bit) {
      bits.push_back((digit >> bit & 1) != 0);
    }
  }
  return bits;
}

/// "4-7" for the mask "f0"; empty for a mask without a bit, and for no mask.
std::string cores_from_mask(std::string_view mask) {
  const auto bits = bits_from_mask(mask);
  std::string text;
  for (std::size_t first = 0; first < bits.size(); ++first) {
    if (!bits[first]) {
      continue;
    }
    auto last = first;
    while (last + 1 < bits.size() && bits[last + 1]) {
      ++last;
    }
    text += (text.empty() ? "" : ",") +
            (first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
    first = last;
  }
  return text;
}

/// The mask of a test, or of its model where the test has no arguments of the platform.
std::optional<std::string> mask_of(const TestEntry& entry) {
  auto mask = scalar_at(entry.test, "platform_args.taskset");
  if (!mask && !entry.test.contains("platform_args")) {
    mask = scalar_at(entry.model, "platform_args.taskset");
  }
  return mask;
}

/// A number that the user sets, else under the key of the test, else of the model.
double number_of(const TestEntry& entry, const StandIns& stand_ins, const char* key,
                 double otherwise) {
  if (const auto set = stand_ins.values.find(key); set != stand_ins.values.end()) {
    return number_from_text(set->second).value_or(otherwise);
  }
  for (const auto* owner : {&entry.test, &entry.model}) {
    if (const auto found = owner->find(key); found != owner->end() && found->is_number()) {
      return found->get<double>();
    }
  }
  return otherwise;
}

Json env_of(const TestEntry& entry) {
  Json env = Json::object();
  for (const auto* name : {"MKL_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const auto given = scalar_at(entry.test, name).value_or("1");
    if (given != "0" && !given.starts_with('-')) {
      env[name] = given;
    }
  }
  const auto given_env = entry.test.value("env", Json::object());
  for (const auto& [name, value] : given_env.items()) {
    env[name] = unquoted_text(value);
  }
  return env;
}

/// Patterns of what benchmark_model prints once: its last block is the measured one.
Json tflite_metrics() {
  const auto metric = [](const char* field) {
    return Json{{"pattern", fmt::format("^count=[0-9.]+ (?:first=.* {}=|curr=)([0-9.e+]+)", field)},
                {"unit", "us"},
                {"take", "last"}};
  };
  auto deviation = metric("std");
  deviation["pattern"] = "^count=.* std=([0-9.e+]+)";
  deviation["optional"] = true;
  return {{"net_latency", metric("avg")},
          {"net_latency_min", metric("min")},
          {"net_latency_max", metric("max")},
          {"net_latency_std", deviation}};
}

/// The identifier that a converter of the specification looks for, else that of its framework.
std::string identifier_of(const TestEntry& entry) {
  const auto given = scalar_at(entry.model, "converter.args.identifier");
  auto identifier =
      given.value_or(entry.format() == "caffe2" ? "Caffe2Observer" : "PyTorchObserver");
  identifier.erase(identifier.find_last_not_of(' ') + 1);
  return identifier;
}

/// Output files whose content is converted to numbers, as templates of their paths.
Json converted_files(const TestEntry& entry) {
  Json files = Json::array();
  const auto outputs = entry.test.value("output_files", Json::object());
  for (const auto& [key, file] : outputs.items()) {
    const auto location = scalar_at(file, "location").value_or("");
    constexpr std::string_view kTarget = "{TGTDIR}/";
    constexpr std::string_view kHost = "{HOSTDIR}/";
    if (!file.contains("converter")) {
      continue;
    }
    if (location.starts_with(kTarget)) {
      files.push_back("{scratch:target}/" + location.substr(kTarget.size()));
    } else if (location.starts_with(kHost)) {
      files.push_back("{scratch:host}/" + location.substr(kHost.size()));
    }
  }
  return files;
}

std::string reason_against_converter(const TestEntry& entry) {
  const auto name = scalar_at(entry.model, "converter.name");
  return !name || *name == "json_with_identifier_converter"
             ? std::string()
             : fmt::format("the converter '{}' is not read; json_with_identifier_converter is",
                           *name);
}

std::string reason_against_cores(const TestEntry& entry, int processors) {
  const auto text = cores_of(entry);
  if (const auto mask = mask_of(entry); !text && mask) {
    return fmt::format("the test is bound by taskset {}, which is no mask of processors", *mask);
  }
  if (!text || processors == 0) {
    return {};
  }
  const auto cores = cores_from_text(*text);
  if (!cores || cores->empty() || std::ranges::max(*cores) < processors) {
    return {};
  }
  return fmt::format("the test is bound to the processors {}, and there are 0 to {} here", *text,
                     processors - 1);
}

}  // namespace

std::optional<std::string> cores_of(const TestEntry& entry) {
  if (const auto list = scalar_at(entry.test, "cpu-list"); list && *list != "0") {
    return list;
  }
  const auto mask = mask_of(entry);
  auto cores = mask ? cores_from_mask(*mask) : std::string();
  return cores.empty() ? std::nullopt : std::optional(std::move(cores));
}

std::string reason_against(const TestEntry& entry, const Composition& composition,
                           const StandIns& stand_ins) {
  if (entry.metric() == "power") {
    return "power is not measured: it takes a meter at the device, or a phone";
  }
  if (composition.steps.empty()) {
    return "the test has no command: \"commands\" is no list, and there are no \"inputs\"";
  }
  if (entry.metric() == "error") {
    return "the metric error compares two files of numbers, which is not read";
  }
  if (composition.host_commands > 0 && !stand_ins.allows_commands) {
    return fmt::format(
        "{} commands of the file prepare and evaluate it on the host; --allow-commands runs them",
        composition.host_commands);
  }
  const auto converter = reason_against_converter(entry);
  return converter.empty() ? reason_against_cores(entry, stand_ins.processors) : converter;
}

Json program_from_test(const TestEntry& entry, const Composition& composition,
                       const StandIns& stand_ins) {
  Json program = {{"about",
                   {{"format", entry.format()},
                    {"name", entry.name()},
                    {"identifier", entry.identifier()},
                    {"metric", entry.metric()},
                    {"iter", entry.test.value("iter", -1)}}},
                  {"steps", composition.steps},
                  {"env", env_of(entry)},
                  {"reads", "both"},
                  {"timeout_s", number_of(entry, stand_ins, "timeout", kDefaultTimeoutS)},
                  {"places", Json::object()}};
  for (const auto& [name, file] : composition.places) {
    program["places"][name] = file.md5.empty() ? Json::object() : Json{{"md5", file.md5}};
  }
  if (const double pause_s = number_of(entry, stand_ins, "cooldown", 0); pause_s > 0) {
    program["pause_s"] = pause_s;
  }
  if (entry.format() == "tflite") {
    program["metrics"] = tflite_metrics();
  } else {
    program["observer"] = identifier_of(entry);
  }
  if (auto files = converted_files(entry); !files.empty()) {
    program["read_files"] = std::move(files);
  }
  if (auto reason = reason_against(entry, composition, stand_ins); !reason.empty()) {
    program["unsupported"] = std::move(reason);
  }
  return program;
}

}  // namespace assay::fai_pep
