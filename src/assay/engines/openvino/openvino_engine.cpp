#include "assay/engines/openvino/openvino_engine.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <openvino/core/model.hpp>
#include <openvino/core/node.hpp>
#include <openvino/core/node_input.hpp>
#include <openvino/core/version.hpp>
#include <openvino/runtime/compiled_model.hpp>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/properties.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"
#include "assay/engines/openvino/engine_error.h"
#include "assay/engines/openvino/loaded_model.h"
#include "assay/engines/openvino/openvino_session.h"
#include "assay/engines/openvino/options.h"
#include "assay/engines/openvino/program_files.h"
#include "assay/engines/openvino/tflite_quantization.h"
#include "assay/record/launch.h"

namespace assay::openvino {
namespace {

// Keys of a runtime model's nodes; the wheel does not ship the header that names them.
constexpr const char* kLayerType = "layerType";
constexpr const char* kRuntimePrecision = "runtimePrecision";

Status check_method(const std::string& method) {
  if (method == "forward") {
    return {};
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no method '{}'; an OpenVINO program has one, called forward", method));
}

/// The name itself, or one of its units: "GPU" of "GPU.0". "AUTO", "AUTO:GPU,CPU" and their like
/// are OpenVINO's to judge.
Status check_device(ov::Core& core, const std::string& device) {
  ASSAY_ASSIGN_OR_RETURN(const auto devices, guarded("devices", ErrorCode::kEngine, [&core] {
                           return core.get_available_devices();
                         }));
  const auto is_meant = [&device](const std::string& one) {
    return one == device || one.starts_with(device + ".");
  };
  constexpr std::array<std::string_view, 4> kVirtual = {"AUTO", "HETERO", "MULTI", "BATCH"};
  const bool is_virtual = device.find(':') != std::string::npos ||
                          std::ranges::find(kVirtual, device) != kVirtual.end();
  if (is_virtual || std::ranges::any_of(devices, is_meant)) {
    return {};
  }
  return fail(ErrorCode::kUnavailable, fmt::format("OpenVINO finds no device '{}' here; found: {}",
                                                   device, fmt::join(devices, ", ")));
}

/// Extensions register operators for this process, for good.
Status open_libraries(ov::Core& core, const std::vector<std::filesystem::path>& libraries) {
  for (const auto& library : libraries) {
    if (!std::filesystem::exists(library)) {
      return fail(ErrorCode::kNotFound, fmt::format("no library {}", library.string()));
    }
    ASSAY_RETURN_IF_ERROR(
        guarded(fmt::format("library {} does not load as an OpenVINO extension", library.string()),
                ErrorCode::kUnavailable, [&] { core.add_extension(library.string()); }));
  }
  return {};
}

std::string text_in(const ov::Node& node, const char* key) {
  const auto found = node.get_rt_info().find(key);
  return found == node.get_rt_info().end() ? "" : found->second.as<std::string>();
}

/// The type that a layer executes in; empty for inputs, outputs, constants and what is computed of
/// constants alone, which is done when the program is compiled.
std::string executed_type(const ov::Node& node) {
  const auto is_varying = [](const ov::Input<const ov::Node>& input) {
    return text_in(*input.get_source_output().get_node(), kLayerType) != "Const";
  };
  const auto inputs = node.inputs();
  const bool is_work =
      text_in(node, kLayerType) != "Output" && std::ranges::any_of(inputs, is_varying);
  return is_work ? text_in(node, kRuntimePrecision) : "";
}

/// Counts of layers by the type that they execute in: "12 f32, 54 u8". Empty if it is unknown.
std::string executed_types(const ov::CompiledModel& model) {
  const auto told = guarded("", ErrorCode::kEngine, [&model] {
    std::map<std::string, int> counts;
    for (const auto& node : model.get_runtime_model()->get_ordered_ops()) {
      if (auto type = executed_type(*node); !type.empty()) {
        ++counts[std::move(type)];
      }
    }
    return counts;
  });
  std::vector<std::string> parts;
  for (const auto& [type, count] : told.value_or(std::map<std::string, int>())) {
    parts.push_back(fmt::format("{} {}", count, type));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

LoadReport report_of(LoadedModel& model, const Json& options, std::vector<StageTime> stages) {
  LoadReport report{.stages = std::move(stages),
                    .effective_options = effective_options(options, model.compiled()),
                    .inputs = model.inputs(),
                    .outputs = model.outputs(),
                    .declared_memory = model.memory()};
  report.backends = {report.effective_options.value("device", "CPU")};
  report.notes = option_notes(options, report.effective_options);
  if (auto types = executed_types(model.compiled()); !types.empty()) {
    report.effective_options["layers"] = std::move(types);
  }
  return report;
}

}  // namespace

Result<ov::Core*> OpenvinoEngine::core() {
  if (core_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(
        core_,
        guarded("OpenVINO does not start; install its package anew, or configure Assay again",
                ErrorCode::kUnavailable, [] { return std::make_unique<ov::Core>(); }));
  }
  return core_.get();
}

Result<EngineDescription> OpenvinoEngine::describe() {
  ASSAY_ASSIGN_OR_RETURN(auto* const openvino, core());
  const auto cpu = guarded("", ErrorCode::kEngine, [openvino] {
    return openvino->get_property("CPU", ov::device::full_name);
  });
  return EngineDescription{
      .name = "openvino",
      .version = ASSAY_OPENVINO_VERSION,
      .build_id = ASSAY_OPENVINO_BUILD_ID,
      .formats = {"openvino_ir", "onnx", "tflite"},
      .options = option_schema(),
      .backends = {{.name = "CPU",
                    .is_available = cpu.has_value(),
                    .reason = cpu ? "" : cpu.error().message}},
      .tags = {std::string(Profiler::kTag), std::string(MemoryReporter::kTag)},
      .notes = {fmt::format("full version: {}", ov::get_openvino_version().buildNumber),
                "other devices than the CPU are looked for when a program is loaded for one"}};
}

Result<std::unique_ptr<Session>> OpenvinoEngine::load(const LoadRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const Json options, validate_options(request.options, option_schema()));
  ASSAY_RETURN_IF_ERROR(check_method(request.method));
  CompileRequest compile{.device = options.value("device", "CPU"),
                         .input_shapes = options.value("input_shapes", ""),
                         .properties = {}};
  ASSAY_ASSIGN_OR_RETURN(compile.properties, properties_from(options));
  ASSAY_ASSIGN_OR_RETURN(const auto files, find_program_files(request));
  ASSAY_ASSIGN_OR_RETURN(auto* const openvino, core());
  if (compile.device != "CPU") {
    ASSAY_RETURN_IF_ERROR(check_device(*openvino, compile.device));
  }
  ASSAY_RETURN_IF_ERROR(open_libraries(*openvino, request.libraries));

  std::vector<StageTime> stages;
  ASSAY_ASSIGN_OR_RETURN(auto model, LoadedModel::load(*openvino, files, compile, stages));
  auto report = report_of(*model, options, std::move(stages));
  if (files.entry.extension() == ".tflite") {
    add_tflite_quantization(files.entry, report);
  }
  compile.properties.insert(ov::enable_profiling(true));
  return std::make_unique<OpenvinoSession>(
      std::move(model), std::move(report), [openvino, files, compile] {
        std::vector<StageTime> ignored;
        return LoadedModel::load(*openvino, files, compile, ignored);
      });
}

}  // namespace assay::openvino
