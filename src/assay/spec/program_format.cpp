#include "assay/spec/program_format.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/subject.h"

namespace assay {
namespace {

struct Ending {
  std::string_view ending;
  std::string_view format;  ///< Empty: a model that a toolchain reads.
};

// The first that fits counts: a program of torch ends like a model, and says more.
constexpr auto kEndings = std::to_array<Ending>({
    {".pte", "pte"},
    {".onnx", "onnx"},
    {".tflite", "tflite"},
    {".xml", "openvino_ir"},
    {".fake.json", "fake"},
    {".torch.pt2", "pt2"},
    {".aoti.pt2", "aoti"},
    {".pt2", ""},
    {".pt", ""},
});

struct EngineFormats {
  std::string_view engine;
  std::vector<std::string> formats;
};

const std::vector<EngineFormats>& engine_formats() {
  static const std::vector<EngineFormats> table = {
      {"executorch", {"pte"}},
      {"onnxruntime", {"onnx"}},
      {"openvino", {"openvino_ir", "onnx", "tflite"}},
      {"litert", {"tflite"}},
      {"torch", {"pt2", "aoti"}},
      {"command", {}},
      {"fake", {"fake"}},
  };
  return table;
}

const Ending* find_ending(std::string_view ref) {
  const auto* found = std::ranges::find_if(
      kEndings, [ref](const Ending& entry) { return ref.ends_with(entry.ending); });
  return found == kEndings.end() ? nullptr : found;
}

}  // namespace

std::optional<std::string> find_program_format(std::string_view ref) {
  const auto* ending = find_ending(ref);
  if (ending == nullptr || ending->format.empty()) {
    return std::nullopt;
  }
  return std::string(ending->format);
}

std::optional<std::string> find_model_file(std::string_view ref) {
  if (const auto factory = ref.find(".py:"); factory != std::string_view::npos) {
    return std::string(ref.substr(0, factory + 3));
  }
  return find_ending(ref) == nullptr ? std::nullopt : std::optional(std::string(ref));
}

std::vector<std::string> formats_of(const EngineBuild& build) {
  if (const auto told = build.details.find("formats");
      told != build.details.end() && told->is_array()) {
    std::vector<std::string> formats;
    for (const auto& format : *told) {
      formats.push_back(format.is_string() ? format.get<std::string>() : "");
    }
    return formats;
  }
  const auto& table = engine_formats();
  const auto found = std::ranges::find(table, build.name, &EngineFormats::engine);
  return found == table.end() ? std::vector<std::string>() : found->formats;
}

const std::vector<std::string>& known_engines() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& entry : engine_formats()) {
      all.emplace_back(entry.engine);
    }
    return all;
  }();
  return names;
}

}  // namespace assay
