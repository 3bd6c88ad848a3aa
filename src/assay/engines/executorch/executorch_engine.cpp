#include "assay/engines/executorch/executorch_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <executorch/runtime/backend/interface.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/engine/engine.h"
#include "assay/engine/known_engines.h"
#include "assay/engine/session.h"
#include "assay/engines/executorch/bundled_backends.h"
#include "assay/engines/executorch/counting_loader.h"
#include "assay/engines/executorch/emulated_backends.h"
#include "assay/engines/executorch/executorch_session.h"
#include "assay/engines/executorch/io_quantization.h"
#include "assay/engines/executorch/loaded_method.h"
#include "assay/engines/executorch/loaded_program.h"
#include "assay/engines/executorch/runtime_error.h"
#include "assay/engines/executorch/runtime_log.h"
#include "assay/engines/executorch/runtime_options.h"
#include "assay/engines/executorch/signature.h"
#include "assay/engines/executorch/vulkan_device.h"
#include "assay/record/launch.h"

namespace assay::et {
namespace {

using ::executorch::runtime::MethodMeta;

constexpr std::string_view kProfilerNote =
    "XNNPACK in ExecuTorch's wheel always runs with its own profiler: times include it";

constexpr const char* kVulkanBackend = "VulkanBackend";

constexpr std::string_view kOpenvinoNote =
    "OpenVINO as a delegate takes no options: it computes on as many threads as it may, "
    "in bfloat16 where the processor has it";

std::vector<std::string> registered_backends() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ::executorch::runtime::get_num_registered_backends(); ++i) {
    if (const auto name = ::executorch::runtime::get_backend_name(i); name.ok()) {
      names.emplace_back(*name);
    }
  }
  return names;
}

/// Ways to get backends that the wheel lacks, by name.
const std::map<std::string, std::string>& known_backends() {
  const auto* engine = find_known_engine("executorch");
  ASSAY_CHECK(engine != nullptr);
  return engine->backends;
}

/// Why a backend that is registered is not available, and how to change that.
std::string why_unavailable(std::string_view backend) {
  const auto reason = backend == kVulkanBackend ? why_no_vulkan_device() : std::string();
  return reason.empty() ? "it is registered but says it cannot run here" : reason;
}

std::vector<BackendInfo> backend_infos() {
  std::vector<BackendInfo> infos;
  for (const auto& name : registered_backends()) {
    const auto* backend = ::executorch::runtime::get_backend_class(name.c_str());
    const bool is_available = backend != nullptr && backend->is_available();
    infos.push_back({.name = name,
                     .is_available = is_available,
                     .reason = is_available ? "" : why_unavailable(name)});
  }
  std::ranges::move(bundled_backends(), std::back_inserter(infos));
  for (const auto& [name, how] : known_backends()) {
    if (std::ranges::find(infos, name, &BackendInfo::name) == infos.end()) {
      infos.push_back({.name = name, .is_available = false, .reason = how});
    }
  }
  return infos;
}

/// Whatever the libraries register belongs to this process from now on.
Status open_libraries(const std::vector<std::filesystem::path>& libraries) {
  for (const auto& library : libraries) {
    if (!std::filesystem::exists(library)) {
      return fail(ErrorCode::kNotFound, fmt::format("no library {}", library.string()));
    }
    if (::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      const char* reason = ::dlerror();
      return fail(ErrorCode::kUnavailable,
                  fmt::format("library {} does not load: {}", library.string(),
                              reason != nullptr ? reason : "no reason given"));
    }
  }
  return {};
}

Result<MethodMeta> find_method(const LoadedProgram& program, const std::string& name) {
  const auto names = program.method_names();
  if (std::ranges::find(names, name) == names.end()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("the program has no method '{}'{}", name, suggestion_for(name, names)));
  }
  auto meta = program.program().method_meta(name.c_str());
  if (!meta.ok()) {
    return fail_with_runtime_error(fmt::format("method '{}'", name), meta.error());
  }
  return *meta;
}

/// The way to get a backend that is not registered.
std::string how_to_get(const std::string& backend) {
  const auto found = known_backends().find(backend);
  return found != known_backends().end()
             ? found->second
             : "give a library that registers it, or lower the model for another backend";
}

Status check_backends(std::span<const std::string> needed) {
  for (const auto& name : needed) {
    ASSAY_RETURN_IF_ERROR(load_bundled_backend(name));
    const auto* backend = ::executorch::runtime::get_backend_class(name.c_str());
    if (backend == nullptr) {
      return fail(
          ErrorCode::kUnavailable,
          fmt::format("the program needs backend '{}', which is not registered; registered: {}; {}",
                      name, fmt::join(registered_backends(), ", "), how_to_get(name)));
    }
    if (!backend->is_available()) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("the program needs backend '{}': {}", name, why_unavailable(name)));
    }
  }
  return {};
}

LoadMode load_mode_from(const Json& options) {
  return options.value("load_mode", "file") == "mmap" ? LoadMode::kMmap : LoadMode::kFile;
}

bool needs(const LoadReport& report, std::string_view backend) {
  return std::ranges::find(report.backends, backend) != report.backends.end();
}

/// Says which hardware computes, and what stands in for it.
void describe_hardware(LoadReport& report) {
  report.emulator = emulator_of(report.backends);
  const auto vulkan = needs(report, kVulkanBackend) ? find_vulkan_device() : std::nullopt;
  if (!vulkan) {
    return;
  }
  report.notes.push_back(fmt::format("Vulkan device: {}, {}", vulkan->name, vulkan->kind));
  if (vulkan->is_cpu) {
    report.emulator = fmt::format("Vulkan's software driver {}", vulkan->name);
  }
}

Result<std::unique_ptr<Session>> load_session(const LoadRequest& request, const Json& options) {
  ExecutorchSession::Parts parts{.method_name = request.method,
                                 .etdump = options.value("etdump", "")};
  LoadReport& report = parts.report;
  const std::int64_t start_ns = monotonic_ns();
  ASSAY_ASSIGN_OR_RETURN(parts.program,
                         LoadedProgram::open({.entry = request.entry,
                                              .data = request.data,
                                              .mode = load_mode_from(options),
                                              .is_verified = options.value("verify", false)}));
  report.stages.push_back({"program", monotonic_ns() - start_ns});

  ASSAY_ASSIGN_OR_RETURN(const MethodMeta meta, find_method(*parts.program, request.method));
  ASSAY_ASSIGN_OR_RETURN(report.inputs, inputs_of(meta));
  ASSAY_ASSIGN_OR_RETURN(report.outputs, outputs_of(meta));
  report.backends = backends_of(meta);
  ASSAY_RETURN_IF_ERROR(check_backends(report.backends));

  const std::int64_t method_start_ns = monotonic_ns();
  ASSAY_ASSIGN_OR_RETURN(parts.method, LoadedMethod::load(*parts.program, request.method,
                                                          report.inputs, report.outputs, nullptr));
  report.stages.push_back({"method", monotonic_ns() - method_start_ns});
  ASSAY_RETURN_IF_ERROR(add_quantization(*parts.program, request.method, "input", report.inputs));
  ASSAY_RETURN_IF_ERROR(add_quantization(*parts.program, request.method, "output", report.outputs));

  describe_hardware(report);
  report.effective_options = effective_options(options);
  report.declared_memory = parts.method->memory();
  report.declared_memory.push_back({"program_and_constants", parts.program->heap_bytes()});
  if (needs(report, "XnnpackBackend")) {
    report.notes.emplace_back(kProfilerNote);
  }
  if (needs(report, kOpenvinoBackend)) {
    report.notes.emplace_back(kOpenvinoNote);
  }
  return std::make_unique<ExecutorchSession>(std::move(parts));
}

}  // namespace

ExecutorchEngine::ExecutorchEngine() { capture_runtime_log(); }

Result<EngineDescription> ExecutorchEngine::describe() {
  std::vector<std::string> notes = {fmt::format("full version: {}", ASSAY_EXECUTORCH_FULL_VERSION),
                                    std::string(kProfilerNote)};
  if (constexpr std::string_view kOrigin = ASSAY_EXECUTORCH_BACKENDS_ORIGIN; !kOrigin.empty()) {
    notes.push_back(fmt::format("built from a checkout: {}", kOrigin));
  }
  return EngineDescription{.name = "executorch",
                           .version = ASSAY_EXECUTORCH_VERSION,
                           .build_id = ASSAY_EXECUTORCH_BUILD_ID,
                           .formats = {"pte"},
                           .options = option_schema(),
                           .backends = backend_infos(),
                           .tags = {std::string(Profiler::kTag), std::string(MemoryReporter::kTag)},
                           .notes = std::move(notes)};
}

Result<std::unique_ptr<Session>> ExecutorchEngine::load(const LoadRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const Json options, validate_options(request.options, option_schema()));
  ASSAY_RETURN_IF_ERROR(open_libraries(request.libraries));
  ASSAY_RETURN_IF_ERROR(apply_process_options(options));
  static_cast<void>(take_error_log());
  return load_session(request, options);
}

}  // namespace assay::et
