#include "assay/engines/command/build_folder.h"

#include <exception>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"

namespace assay::command {
namespace {

constexpr const char* kBuildSchema = "assay/engine-build/1";

std::string text_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Status check_build(const Json& json) {
  if (!json.is_object() || text_in(json, "schema") != kBuildSchema) {
    return fail(ErrorCode::kCorrupt, fmt::format("is no document of the schema {}", kBuildSchema));
  }
  const auto outcome = text_in(json, "outcome");
  if (outcome == "built") {
    return {};
  }
  const auto log = text_in(json, "log");
  return fail(ErrorCode::kUnavailable, fmt::format("the build of {} has the outcome '{}'{}",
                                                   text_in(json, "revision").substr(0, 12), outcome,
                                                   log.empty() ? "" : "; its log is " + log));
}

Result<std::filesystem::path> output_below(const std::filesystem::path& folder,
                                           const std::string& name, const std::string& relative) {
  const auto path = std::filesystem::path(relative).lexically_normal();
  return stays_below(path)
             ? Result<std::filesystem::path>(folder / path)
             : fail(ErrorCode::kCorrupt,
                    fmt::format("output '{}' is '{}', no path below its folder", name, relative));
}

Result<BuildFolder> build_from(const Json& json, const std::filesystem::path& folder) {
  ASSAY_RETURN_IF_ERROR(check_build(json));
  std::map<std::string, std::string> outputs;
  try {
    outputs = json.value("outputs", outputs);
  } catch (const std::exception&) {
    return fail(ErrorCode::kCorrupt, "\"outputs\" must be an object of names and relative paths");
  }
  BuildFolder build{.folder = folder, .outputs = {}};
  for (const auto& [name, relative] : outputs) {
    ASSAY_ASSIGN_OR_RETURN(build.outputs[name], output_below(folder, name, relative));
  }
  return build;
}

}  // namespace

Result<BuildFolder> read_build_folder(const std::filesystem::path& folder) {
  const auto file = std::filesystem::absolute(folder) / "build.json";
  auto json = read_json_file(file);
  if (!json) {
    auto error = std::move(json).error();
    error.code = error.code == ErrorCode::kNotFound ? error.code : ErrorCode::kCorrupt;
    return std::unexpected(std::move(error));
  }
  auto build = build_from(*json, file.parent_path());
  return build ? build : Result<BuildFolder>(fail_with_context(build.error(), file.string()));
}

}  // namespace assay::command
