#include "assay/spec/program_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
    {".bpte", "pte"},
    {".onnx", "onnx"},
    {".tflite", "tflite"},
    {".tosa", "tosa"},
    {".vgf", "vgf"},
    {".xml", "openvino_ir"},
    {".torch.pt2", "pt2"},
    {".aoti.pt2", "aoti"},
    {".pt2", ""},
    {".pt", ""},
    {".py", ""},
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
      {"tosa", {"tosa"}},
      {"vgf", {"vgf"}},
      {"torch", {"pt2", "aoti"}},
      {"command", {"command"}},
      {"fake", {"fake"}},
  };
  return table;
}

const Ending* find_ending(std::string_view ref) {
  const auto* found = std::ranges::find_if(
      kEndings, [ref](const Ending& entry) { return ref.ends_with(entry.ending); });
  return found == kEndings.end() ? nullptr : found;
}

bool is_format_name(std::string_view text) {
  const auto is_allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::ranges::all_of(text, is_allowed);
}

/// The format that a file of an engine's own names by its ending: "toy" of "net.toy" and of
/// "net.toy.json"; empty for what is no file name.
std::string own_format(std::string_view ref) {
  if (ref.find(':') != std::string_view::npos) {
    return "";
  }
  std::filesystem::path name = std::filesystem::path(ref).filename();
  if (name.extension() == ".json") {
    name = name.stem();
  }
  const auto ending = name.extension().string();
  return ending.size() > 1 && is_format_name(ending.substr(1)) ? ending.substr(1) : "";
}

}  // namespace

std::optional<std::string> find_program_format(std::string_view ref) {
  if (const auto* ending = find_ending(ref); ending != nullptr) {
    return ending->format.empty() ? std::nullopt : std::optional(std::string(ending->format));
  }
  auto format = own_format(ref);
  return format.empty() ? std::nullopt : std::optional(std::move(format));
}

std::optional<std::string> find_model_file(std::string_view ref) {
  if (const auto factory = ref.find(".py:"); factory != std::string_view::npos) {
    return std::string(ref.substr(0, factory + 3));
  }
  const bool is_file = find_ending(ref) != nullptr || !own_format(ref).empty();
  return is_file ? std::optional(std::string(ref)) : std::nullopt;
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

const std::vector<std::string>& known_engine_names() {
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
