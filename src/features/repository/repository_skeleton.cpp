#include "features/repository/repository_skeleton.h"

#include "features/repository/repository_spec.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/file_name.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::size_t kMostBuildFileBytes = std::size_t{1} << 20;
constexpr const char* kPlaceholder = "bench";

/// A checkout, or an address.
struct SkeletonSource {
  std::string url;
  std::string kind = "git";
  stdfs::path folder;  ///< Empty for an address.
};

/// The part of a skeleton that depends on the build system.
struct SkeletonBuild {
  std::vector<std::vector<std::string>> commands;
  std::string name = kPlaceholder;  ///< Name of the output.
  std::string path;
  std::string how_built;
};

/// "https://…", "ann@host:path".
bool is_address(const std::string& text) {
  const auto colon = text.find(':');
  return colon != std::string::npos && colon < text.find('/');
}

/// The kind of a checkout, or of a bare repository; empty for another folder.
std::string kind_of_checkout(const stdfs::path& folder) {
  std::error_code error;
  const auto has = [&](const char* name) { return stdfs::exists(folder / name, error); };
  if (has(".hg")) {
    return "hg";
  }
  return has(".git") || (has("HEAD") && has("objects")) ? "git" : "";
}

/// The checkout that the folder is, or is part of. Errors: kNotFound, kInvalidArgument.
Result<SkeletonSource> find_checkout(const std::string& text) {
  std::error_code error;
  if (!stdfs::is_directory(text, error)) {
    return fail(ErrorCode::kNotFound, fmt::format("'{}' is neither a folder nor an address such as "
                                                  "https://example.org/toy.git",
                                                  text));
  }
  const auto start = stdfs::canonical(text, error);
  for (auto folder = start; folder != folder.root_path(); folder = folder.parent_path()) {
    if (auto kind = kind_of_checkout(folder); !kind.empty()) {
      return SkeletonSource{.url = folder.string(), .kind = std::move(kind), .folder = folder};
    }
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is no checkout of git or Mercurial", text));
}

/// The last part of an address or path, with the letters that an engine's name may have.
std::string name_of_repository(std::string url) {
  while (url.ends_with('/')) {
    url.pop_back();
  }
  const auto name = url.substr(url.find_last_of("/:") + 1);
  return file_name_from(
      name.ends_with(".git") ? name.substr(0, name.size() - std::string_view(".git").size()) : name,
      '-');
}

std::string text_of_build_file(const stdfs::path& folder, const char* name) {
  return folder.empty() ? "" : read_file(folder / name, kMostBuildFileBytes).value_or("");
}

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("_./+-").contains(c);
}

/// The text up to the first character that a plain path lacks, such as the "$" of a variable.
std::string plain_beginning(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_plain);
  return {text.begin(), end};
}

std::string_view without_leading_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

/// Calls `find` with each rest of a text that begins with a line, until it returns a name.
template <class Find>
std::string first_in_lines(std::string_view text, Find find) {
  while (!text.empty()) {
    if (auto name = find(text); !name.empty()) {
      return name;
    }
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return "";
}

/// The program of "add_executable(NAME …"; empty for another command or a variable.
std::string program_of_command(std::string_view text) {
  constexpr std::string_view kCommand = "add_executable";
  text = without_leading_space(text);
  const auto is_same_letter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  };
  if (!std::ranges::equal(text.substr(0, kCommand.size()), kCommand, is_same_letter)) {
    return "";
  }
  text = without_leading_space(text.substr(kCommand.size()));
  return text.starts_with('(') ? plain_beginning(without_leading_space(text.substr(1))) : "";
}

/// The file that a rule makes, and for "all" what it needs first; empty for another line.
std::string program_of_rule(std::string_view text) {
  const auto target = plain_beginning(text);
  const auto rest = text.substr(target.size());
  const bool is_rule = !target.starts_with('.') && rest.starts_with(':') && !rest.starts_with(":=");
  if (target.empty() || !is_rule) {
    return "";
  }
  const auto line = rest.substr(1, rest.find('\n') - 1);
  return target == "all" ? plain_beginning(without_leading_space(line)) : target;
}

SkeletonBuild cmake_build(const std::string& program) {
  const auto name = program.empty() ? std::string(kPlaceholder) : program;
  return {.commands = {{"cmake", "-S", "{source}", "-B", "{work}", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={work}/bin"},
                       {"cmake", "--build", "{work}", "--parallel", "{jobs}"}},
          .name = name,
          .path = "bin/" + name};
}

SkeletonBuild make_build(const std::string& program) {
  const auto path = program.empty() ? std::string(kPlaceholder) : program;
  const auto name = stdfs::path(path).filename().string();
  return {.commands = {{"make", "-C", "{source}", "--jobs={jobs}"},
                       {"cp", "{source}/" + path, "{work}/" + name}},
          .name = name,
          .path = name};
}

SkeletonBuild script_build(const std::string& script) {
  return {.commands = {{"cp", "{source}/" + script, "{work}/" + script}},
          .name = stdfs::path(script).stem().string(),
          .path = script,
          .how_built = "the script " + script + ", copied; nothing is built"};
}

/// The only executable file of the folder itself; empty if there are none or several.
std::string find_script(const stdfs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (auto entry = stdfs::directory_iterator(folder, error);
       !error && entry != stdfs::directory_iterator(); entry.increment(error)) {
    const auto status = entry->status(error);
    const auto name = entry->path().filename().string();
    const bool is_executable =
        (status.permissions() & stdfs::perms::owner_exec) != stdfs::perms::none;
    if (stdfs::is_regular_file(status) && is_executable && !name.starts_with('.') &&
        std::ranges::all_of(name, is_plain)) {
      found.push_back(name);
    }
  }
  return found.size() == 1 ? found.front() : "";
}

std::string how_it_is_built(std::string_view file, const std::string& program) {
  return program.empty() ? fmt::format("built by {}; name the program under \"outputs\"", file)
                         : fmt::format("built by {}, program {}", file, program);
}

SkeletonBuild find_build(const stdfs::path& folder) {
  if (const auto text = text_of_build_file(folder, "CMakeLists.txt"); !text.empty()) {
    const auto program = first_in_lines(text, program_of_command);
    auto build = cmake_build(program);
    build.how_built = how_it_is_built("CMakeLists.txt", program);
    return build;
  }
  for (const auto* name : {"GNUmakefile", "makefile", "Makefile"}) {
    if (const auto text = text_of_build_file(folder, name); !text.empty()) {
      const auto program = first_in_lines(text, program_of_rule);
      auto build = make_build(program);
      build.how_built = how_it_is_built(name, program);
      return build;
    }
  }
  if (const auto script = folder.empty() ? std::string() : find_script(folder); !script.empty()) {
    return script_build(script);
  }
  auto build = cmake_build("");
  build.how_built = "an example of a build with CMake; correct \"build\" and \"outputs\"";
  return build;
}

std::string json_literal(const Json& value) { return value.dump(-1, ' ', true); }

std::string lines_of_commands(const SkeletonBuild& build) {
  std::string lines;
  for (const auto& command : build.commands) {
    lines += fmt::format("{}        {}", lines.empty() ? "" : ",\n", json_literal(command));
  }
  return lines;
}

std::string text_of_skeleton(const SkeletonSource& source, const SkeletonBuild& build,
                             const std::string& engine) {
  return fmt::format(
      R"({{
  // Every key: docs/reference/repositories.md of Assay, or `assay list repository-schema`.
  "schema": "assay/repository/1",
  "repository": {{"url": {}, "kind": "{}"}},
  "engine": {},
  // Remove the slashes in front of what you need.
  // The spec that `assay watch` measures of each commit:
  // "spec": "spec.json",
  // Files that matter to the build; no other can change a time:
  // "paths": {{"include": ["src"], "exclude": ["*.md"]}},
  // The least change that counts, of each metric that is watched:
  // "policy": {{"min_effect": {{"steady_floor_ns": "2%"}}}},
  "environments": {{
    "default": {{
      // Commands, executed in {{work}} without a shell, for each commit.
      "build": [
{}
      ],
      // Path below {{work}}, by name; a .command.json uses it as {{build:{}}}.
      "outputs": {{{}: {}}}
    }}
  }}
}}
)",
      json_literal(source.url), source.kind, json_literal(engine), lines_of_commands(build),
      build.name, json_literal(build.name), json_literal(build.path));
}

}  // namespace

Result<RepositorySkeleton> make_repository_skeleton(const std::string& repository) {
  SkeletonSource source{.url = repository};
  if (!is_address(repository)) {
    ASSAY_ASSIGN_OR_RETURN(source, find_checkout(repository));
  }
  auto build = find_build(source.folder);
  RepositorySkeleton skeleton{.engine = name_of_repository(source.url)};
  skeleton.text = text_of_skeleton(source, build, skeleton.engine);
  skeleton.how_built = std::move(build.how_built);
  ASSAY_RETURN_IF_ERROR(repository_spec_from_text(skeleton.text, "the repository file", "/"));
  return skeleton;
}

}  // namespace assay
