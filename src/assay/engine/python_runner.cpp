#include "assay/engine/python_runner.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kTemplate = "python/runner.sh.in";

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

/// The file of "FILE.py:Class" by its absolute path; a name stays what it is.
Result<std::string> absolute_reference(const std::string& engine) {
  const auto colon = engine.rfind(".py:");
  if (colon == std::string::npos) {
    return engine;
  }
  const stdfs::path file = engine.substr(0, colon + 3);
  if (!stdfs::exists(file)) {
    return fail(ErrorCode::kNotFound, fmt::format("no file '{}'", file.string()));
  }
  return stdfs::absolute(file).string() + engine.substr(colon + 3);
}

/// The folder that holds the package `assay`: beside the sources, or nothing for an interpreter
/// that has it installed.
std::string package_folder(const stdfs::path& source) {
  const auto beside = source / "python";
  return stdfs::exists(beside / "assay" / "engines") ? beside.string() : "";
}

}  // namespace

Result<EngineBuild> add_python_runner(const PythonRunnerRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto engine, absolute_reference(request.engine));
  ASSAY_ASSIGN_OR_RETURN(std::string script, read_file(request.source / kTemplate));
  const std::array<std::pair<std::string, std::string>, 4> values = {{
      {"@ENGINE@", engine},
      {"@PYTHON@", stdfs::absolute(request.python).string()},
      {"@PYTHON_FOLDER@", package_folder(request.source)},
      {"@ALLOCATION_LIBRARY@", (executable_folder() / "libassay-allocation.so").string()},
  }};
  for (const auto& [name, value] : values) {
    replace_all(script, name, value);
  }
  const auto runner = engines_folder(request.home) /
                      fmt::format("{}@{}", request.name, request.label) /
                      fmt::format("assay-runner-{}", request.name);
  ASSAY_RETURN_IF_ERROR(write_file_atomically(runner, script));
  std::error_code error;
  stdfs::permissions(runner, stdfs::perms::owner_exec, stdfs::perm_options::add, error);
  return register_runner(request.home, runner, request.name, request.label);
}

}  // namespace assay
