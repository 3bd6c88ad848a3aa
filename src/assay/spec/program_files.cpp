#include "assay/spec/program_files.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"
#include "assay/spec/onnx_files.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// Those that a manifest next to the program lists behind it; none where it is of another program.
std::vector<std::string> data_of_manifest(const stdfs::path& program) {
  const auto manifest = read_json_file(program.parent_path() / "manifest.json");
  std::vector<std::string> names;
  if (!manifest || !manifest->is_object() ||
      manifest->value("entry", Json()) != Json(program.filename().string())) {
    return names;
  }
  for (const auto& file : manifest->value("files", Json::array())) {
    if (file.is_object() && file.value("role", Json()) == Json("data") &&
        file.value("name", Json()).is_string()) {
      names.push_back(file["name"].get<std::string>());
    }
  }
  return names;
}

/// "net.bin" of "net.xml", if there is one.
std::vector<std::string> data_of_same_name(const stdfs::path& program, const char* extension) {
  auto beside = program;
  beside.replace_extension(extension);
  std::error_code ignored;
  return stdfs::exists(beside, ignored) ? std::vector{beside.filename().string()}
                                        : std::vector<std::string>();
}

std::vector<std::string> find_data(const stdfs::path& program) {
  const auto extension = program.extension();
  if (extension == ".onnx") {
    return read_external_files(program);
  }
  if (extension == ".xml") {
    return data_of_same_name(program, ".bin");
  }
  if (extension != ".pte") {
    return {};
  }
  auto listed = data_of_manifest(program);
  return listed.empty() ? data_of_same_name(program, ".ptd") : listed;
}

Status check_data(const stdfs::path& program, const std::string& name) {
  if (!stays_below(name)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' refers to '{}', which lies outside of its folder: a copy of the "
                            "program would not have it; save the program with its data beside it",
                            program.string(), name));
  }
  std::error_code ignored;
  if (!stdfs::is_regular_file(program.parent_path() / name, ignored)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("'{}' keeps data in '{}', which is not beside it; copy it there",
                            program.string(), name));
  }
  return {};
}

}  // namespace

Result<std::vector<ProgramFile>> find_program_files(const stdfs::path& program) {
  std::vector<ProgramFile> files = {{.name = program.filename().string(), .role = "program"}};
  for (const auto& name : find_data(program)) {
    ASSAY_RETURN_IF_ERROR(check_data(program, name));
    files.push_back({.name = stdfs::path(name).lexically_normal().string(), .role = "data"});
  }
  return files;
}

Result<std::string> digest_program(const stdfs::path& program) {
  ASSAY_ASSIGN_OR_RETURN(const auto files, find_program_files(program));
  Json digests = Json::array();
  for (const auto& file : files) {
    ASSAY_ASSIGN_OR_RETURN(auto digest, sha256_hex_of_file(program.parent_path() / file.name));
    digests.push_back(std::move(digest));
  }
  return digests.size() == 1 ? digests.front().get<std::string>() : digest_of_json(digests);
}

}  // namespace assay
