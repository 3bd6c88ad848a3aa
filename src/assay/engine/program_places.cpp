#include "assay/engine/program_places.h"

#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

std::filesystem::path places_file_of(const std::filesystem::path& program) {
  auto file = program;
  return file.replace_extension(".places.json");
}

Result<std::map<std::string, std::string>> read_program_places(
    const std::filesystem::path& program) {
  const auto file = places_file_of(program);
  std::error_code error;
  std::map<std::string, std::string> places;
  if (program.extension() != ".json" || !std::filesystem::exists(file, error)) {
    return places;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto json, read_json_file(file));
  if (!json.is_object()) {
    return fail(ErrorCode::kCorrupt, file.string() + " must be an object of names and paths");
  }
  for (const auto& [name, path] : json.items()) {
    const auto text = path.is_string() ? path.get<std::string>() : std::string();
    if (!text.starts_with('/')) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: \"{}\" must be an absolute path", file.string(), name));
    }
    places.emplace(name, text);
  }
  return places;
}

}  // namespace assay
