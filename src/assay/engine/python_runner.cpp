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

/// The package `assay` in the environment that this program is installed in; empty: in none.
stdfs::path installed_package() {
  std::error_code error;
  for (const auto& entry :
       stdfs::directory_iterator(executable_folder().parent_path() / "lib", error)) {
    auto package = entry.path() / "site-packages" / "assay";
    if (stdfs::exists(package / "engines", error)) {
      return package;
    }
  }
  return {};
}

/// The folder that holds the package `assay`: next to the sources, or else `place` with a link to
/// the installed package, because the other packages of its environment are not the interpreter's.
/// Nothing where there is neither: then the interpreter has it.
std::string package_folder(const stdfs::path& source, const stdfs::path& place) {
  const auto beside = source / "python";
  if (stdfs::exists(beside / "assay" / "engines")) {
    return beside.string();
  }
  const auto package = installed_package();
  if (package.empty()) {
    return "";
  }
  std::error_code error;
  stdfs::create_directories(place, error);
  stdfs::remove(place / "assay", error);
  stdfs::create_directory_symlink(package, place / "assay", error);
  return error ? "" : place.string();
}

}  // namespace

Result<EngineBuild> add_python_runner(const PythonRunnerRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto engine, absolute_reference(request.engine));
  ASSAY_ASSIGN_OR_RETURN(std::string script, read_file(request.source / kTemplate));
  const auto folder =
      engines_folder(request.home) / fmt::format("{}@{}", request.name, request.label);
  const std::array<std::pair<std::string, std::string>, 7> values = {{
      {"@ENGINE@", engine},
      {"@PYTHON@", stdfs::absolute(request.python).string()},
      {"@PYTHON_FOLDER@", package_folder(request.source, folder / "packages")},
      {"@ALLOCATION_LIBRARY@", (executable_folder() / "libassay-allocation.so").string()},
      {"@TOOLCHAIN@", ""},  // The interpreter is the one that was named.
      {"@TOOLCHAIN_VARIABLE@", ""},
      {"@HOW_TO_GET@", ""},
  }};
  for (const auto& [name, value] : values) {
    replace_all(script, name, value);
  }
  const auto runner = folder / fmt::format("assay-runner-{}", request.name);
  ASSAY_RETURN_IF_ERROR(write_file_atomically(runner, script, 0755));
  return register_runner(request.home, runner, request.name, request.label);
}

}  // namespace assay
