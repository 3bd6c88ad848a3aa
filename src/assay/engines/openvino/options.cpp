#include "assay/engines/openvino/options.h"

#include <cstdint>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <openvino/core/any.hpp>
#include <openvino/core/type/element_type.hpp>
#include <openvino/runtime/compiled_model.hpp>
#include <openvino/runtime/properties.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"

namespace assay::openvino {
namespace {

constexpr std::string_view kEnginesChoice = "default";

constexpr const char* kGroupOption = "dynamic_quantization_group_size";
constexpr const char* kCacheOption = "kv_cache_precision";

ov::element::Type precision_from(std::string_view name) {
  if (name == "f16") {
    return ov::element::f16;
  }
  if (name == "u8") {
    return ov::element::u8;
  }
  return name == "bf16" ? ov::element::bf16 : ov::element::f32;
}

/// Turns off with precision f32 what else makes integers of floating values, unless it is asked
/// for. Other devices than the CPU may not know these properties.
void insert_quantization(const Json& options, ov::AnyMap& properties) {
  const bool is_exact =
      options.value("precision", "f32") == "f32" && options.value("device", "CPU") == "CPU";
  if (options.contains(kGroupOption)) {
    properties.insert(
        ov::hint::dynamic_quantization_group_size(options[kGroupOption].get<std::uint64_t>()));
  } else if (is_exact) {
    properties.insert(ov::hint::dynamic_quantization_group_size(0));
  }
  if (options.contains(kCacheOption)) {
    properties.insert(
        ov::hint::kv_cache_precision(precision_from(options[kCacheOption].get<std::string>())));
  } else if (is_exact) {
    properties.insert(ov::hint::kv_cache_precision(ov::element::f32));
  }
}

/// A property of the compiled model; nothing where the device does not tell it.
template <class T>
std::optional<T> read_property(const ov::CompiledModel& model, const std::string& name) {
  try {
    return model.get_property(name).as<T>();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

template <class T>
void read_back(const ov::CompiledModel& model, const std::string& property, const char* option,
               Json& effective) {
  if (const auto value = read_property<T>(model, property)) {
    effective[option] = *value;
  }
}

std::string_view text_of(ov::hint::PerformanceMode mode) {
  switch (mode) {
    case ov::hint::PerformanceMode::LATENCY:
      return "latency";
    case ov::hint::PerformanceMode::THROUGHPUT:
      return "throughput";
    default:
      return "cumulative_throughput";
  }
}

}  // namespace

std::vector<OptionSchema> option_schema() {
  return {
      threads_option(
          "Threads that compute (INFERENCE_NUM_THREADS); default: the engine's own choice."),
      {.name = "hint",
       .type = "string",
       .values = {"latency", "throughput"},
       .default_value = "latency",
       .scope = "load",
       .description = "What the engine tunes itself for (PERFORMANCE_HINT)."},
      {.name = "precision",
       .type = "string",
       .values = {"f32", "f16", "bf16", "default"},
       .default_value = "f32",
       .scope = "load",
       .description =
           "Type that floating operators compute in (INFERENCE_PRECISION_HINT); default: "
           "the engine's own choice, bf16 on processors that have it."},
      {.name = kGroupOption,
       .type = "int",
       .minimum = 0,
       .scope = "load",
       .description = "How many values share a scale where a layer with compressed weights "
                      "quantizes its inputs (DYNAMIC_QUANTIZATION_GROUP_SIZE); 0: it does not. "
                      "Default: 0 with precision f32, else the engine's own choice."},
      {.name = kCacheOption,
       .type = "string",
       .values = {"f32", "f16", "bf16", "u8"},
       .scope = "load",
       .description = "Type of the cache of stateful attention (KV_CACHE_PRECISION); default: f32 "
                      "with precision f32, else the engine's own choice."},
      {.name = "pinning",
       .type = "bool",
       .scope = "load",
       .description = "Whether threads are pinned to cores (ENABLE_CPU_PINNING); default: the "
                      "engine's own choice; with the scenario \"streams\" false."},
      {.name = "device",
       .type = "string",
       .default_value = "CPU",
       .scope = "load",
       .description = "OpenVINO's name of the device."},
      {.name = "cache_dir",
       .type = "string",
       .scope = "load",
       .description = "Folder where compiled models are kept from load to load (CACHE_DIR)."},
      {.name = "input_shapes",
       .type = "string",
       .scope = "load",
       .description = "Binds dynamic dimensions: x:1x3x224x224;mask:1x16."},
  };
}

Result<ov::AnyMap> properties_from(const Json& options) {
  ov::AnyMap properties;
  if (options.contains("threads")) {
    properties.insert(ov::inference_num_threads(options["threads"].get<int>()));
  }
  properties.insert(ov::hint::performance_mode(options.value("hint", "latency") == "throughput"
                                                   ? ov::hint::PerformanceMode::THROUGHPUT
                                                   : ov::hint::PerformanceMode::LATENCY));
  const auto precision = options.value("precision", "f32");
  if (precision != kEnginesChoice) {
    properties.insert(ov::hint::inference_precision(precision_from(precision)));
  }
  if (options.contains("pinning")) {
    properties.insert(ov::hint::enable_cpu_pinning(options["pinning"].get<bool>()));
  }
  insert_quantization(options, properties);
  if (const auto folder = options.value("cache_dir", ""); !folder.empty()) {
    properties.insert(ov::cache_dir(folder));
  }
  return properties;
}

Json effective_options(const Json& requested, const ov::CompiledModel& model) {
  Json effective = requested;
  read_back<int>(model, ov::inference_num_threads.name(), "threads", effective);
  read_back<bool>(model, ov::hint::enable_cpu_pinning.name(), "pinning", effective);
  if (const auto mode =
          read_property<ov::hint::PerformanceMode>(model, ov::hint::performance_mode.name())) {
    effective["hint"] = text_of(*mode);
  }
  if (const auto type =
          read_property<ov::element::Type>(model, ov::hint::inference_precision.name())) {
    effective["precision"] = type->get_type_name();
  }
  if (const auto type =
          read_property<ov::element::Type>(model, ov::hint::kv_cache_precision.name())) {
    effective[kCacheOption] = type->get_type_name();
  }
  read_back<std::uint64_t>(model, ov::hint::dynamic_quantization_group_size.name(), kGroupOption,
                           effective);
  if (const auto streams = read_property<ov::streams::Num>(model, ov::num_streams.name())) {
    effective["streams"] = streams->num;
  }
  if (const auto devices =
          read_property<std::vector<std::string>>(model, ov::execution_devices.name())) {
    effective["device"] = fmt::format("{}", fmt::join(*devices, ","));
  }
  if (requested.contains("cache_dir")) {
    read_back<bool>(model, ov::loaded_from_cache.name(), "loaded_from_cache", effective);
  }
  return effective;
}

std::vector<std::string> option_notes(const Json& requested, const Json& effective) {
  std::vector<std::string> notes;
  const auto wanted = requested.value("precision", "f32");
  const auto got = effective.value("precision", wanted);
  if (wanted == kEnginesChoice && got != "f32") {
    notes.push_back(fmt::format("floating operators compute in {}, the engine's own choice", got));
  } else if (wanted != kEnginesChoice && got != wanted) {
    notes.push_back(
        fmt::format("precision {} was asked for, floating operators compute in {}", wanted, got));
  }
  if (requested.contains("threads") && effective.value("threads", 0) != requested["threads"]) {
    notes.push_back(fmt::format("{} threads were asked for, the engine takes {}",
                                requested["threads"].get<int>(), effective.value("threads", 0)));
  }
  return notes;
}

}  // namespace assay::openvino
