// Whatever a runner says of itself, a registry of engines holds or options ask for, it is read or
// refused, and options that are accepted stay as they were asked for.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "assay/base/fs.h"
#include "assay/base/fuzz_input.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/installed_builds.h"

namespace {

using assay::Json;

/// {"description": …, "options": …}
void read_description(std::string_view text) {
  const auto document = assay::parse_json(text, "fuzz");
  if (!document || !document->is_object()) {
    return;
  }
  assay::EngineDescription description;
  try {
    description = document->value("description", Json::object()).get<assay::EngineDescription>();
  } catch (const std::exception&) {
    return;
  }
  const auto asked = document->value("options", Json::object());
  if (const auto options = assay::validate_options(asked, description.options)) {
    for (const auto& [name, value] : asked.items()) {
      ASSAY_CHECK(options->at(name) == value);
    }
  }
}

void read_registry(std::string_view text) {
  static const auto kHome = assay::TemporaryFolder::make("assay-fuzz");
  ASSAY_CHECK(kHome);
  const auto folder = assay::engines_folder(kHome->path());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "engines.json") << text;
  for (const auto& build : assay::registered_builds(kHome->path())) {
    ASSAY_CHECK(!build.name.empty() && !build.runner.empty());
  }
}

constexpr assay::FuzzedParser kParsers[] = {{'d', read_description}, {'r', read_registry}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return assay::run_fuzzed_parser(kParsers, data, size);
}
