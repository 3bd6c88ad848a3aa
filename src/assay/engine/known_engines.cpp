#include "assay/engine/known_engines.h"

#include "engine_data.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

constexpr const char* kNoPythonRunner = "its runner was not built; run make build";

std::vector<KnownEngine> read_known_engines() {
  const auto document = parse_json(engine_data("engines.json"), "engines.json");
  ASSAY_CHECK(document.has_value());
  std::vector<KnownEngine> engines;
  for (const auto& entry : document->at("engines")) {
    engines.push_back({.name = entry.at("name"),
                       .how_to_get = entry.value("how_to_get", kNoPythonRunner),
                       .how_to_install = entry.value("how_to_install", ""),
                       .package = entry.value("package", ""),
                       .is_in_python = entry.contains("python"),
                       .not_on_devices = entry.value("not_on_devices", ""),
                       .loads = entry.value("loads", std::vector<std::string>()),
                       .backends = entry.value("backends", std::map<std::string, std::string>())});
  }
  return engines;
}

}  // namespace

std::span<const KnownEngine> known_engines() {
  static const auto engines = read_known_engines();
  return engines;
}

const KnownEngine* find_known_engine(std::string_view name) {
  const auto engines = known_engines();
  const auto found = std::ranges::find(engines, name, &KnownEngine::name);
  return found == engines.end() ? nullptr : &*found;
}

bool is_known_in_python(std::string_view name) {
  const auto* engine = find_known_engine(name);
  return engine != nullptr && engine->is_in_python;
}

}  // namespace assay
