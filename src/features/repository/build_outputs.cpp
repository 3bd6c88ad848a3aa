#include "features/repository/build_outputs.h"

#include "features/repository/version_control.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <ios>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::chrono::minutes kToolTimeout{2};

/// Regular files below a path, or the path itself; relative to `base`, in order of their names.
std::vector<std::string> files_below(const stdfs::path& path, const stdfs::path& base) {
  std::vector<std::string> files;
  std::error_code error;
  if (!stdfs::is_directory(path, error)) {
    return {path.lexically_relative(base).string()};
  }
  for (stdfs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code vanished;
    if (entry->is_regular_file(vanished)) {
      files.push_back(entry->path().lexically_relative(base).string());
    }
  }
  std::ranges::sort(files);
  return files;
}

/// A link of a folder that leads somewhere else than into the folder.
std::string fault_of_links(const stdfs::path& folder) {
  std::error_code error;
  for (stdfs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_symlink(error)) {
      continue;
    }
    const auto target = stdfs::read_symlink(entry->path(), error);
    const auto inside = (entry->path().parent_path() / target).lexically_normal();
    if (target.is_absolute() || !path_below(inside, folder)) {
      return fmt::format("the link '{}' leads out of its output", entry->path().string());
    }
  }
  return "";
}

bool is_elf(const stdfs::path& file) {
  constexpr std::string_view kMagic =
      "\x7f"
      "ELF";
  std::string begin(kMagic.size(), '\0');
  std::ifstream(file, std::ios::binary)
      .read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kMagic;
}

/// A path below a folder that a line names, such as "source/lib"; empty: it names none. A compiler
/// may have been told the folder without links.
std::string named_below(const stdfs::path& folder, std::string_view line) {
  std::error_code ignored;
  for (const auto& way : {folder, stdfs::weakly_canonical(folder, ignored)}) {
    const auto begin = way.string() + "/";
    if (const auto at = line.find(begin); at != std::string_view::npos) {
      return std::string(line.substr(at + begin.size()));
    }
  }
  return "";
}

/// Complains where the loader would look for libraries in the work folder or among the source, in a
/// list of folders or for one library by its path; empty: it does not.
std::string fault_of_libraries(const stdfs::path& file, const stdfs::path& work) {
  constexpr auto kTags = std::to_array<std::string_view>({"(RUNPATH)", "(RPATH)", "(NEEDED)"});
  const auto output = run_command(
      {.argv = {"readelf", "--dynamic", file.string()}, .env = {}, .stderr_file = "/dev/null"},
      kToolTimeout);
  for (const auto& line : lines_of(output ? output->output : "")) {
    const bool is_way = std::ranges::any_of(
        kTags, [&line](std::string_view tag) { return line.find(tag) != std::string::npos; });
    const auto named = is_way ? named_below(work.parent_path(), line) : "";
    if (!named.empty()) {
      return fmt::format(
          "'{}' would load libraries from the {}, where the next build "
          "lies: link them statically, or list them under \"outputs\" and use "
          "relative paths (CMake: -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON)",
          file.filename().string(),
          named.starts_with(work.filename().string()) ? "work folder" : "source");
    }
  }
  return "";
}

/// Digest of a program without what differs although it runs the same: symbols, lines, build id.
/// Digest of the whole file if it is no object file, or objcopy is not installed.
Result<std::string> digest_without_symbols(const stdfs::path& file, const stdfs::path& scratch) {
  const auto bare = scratch / "bare";
  const auto stripped =
      is_elf(file)
          ? run_command({.argv = {"objcopy", "--strip-all", "--remove-section=.note.gnu.build-id",
                                  "--remove-section=.comment", file.string(), bare.string()},
                         .env = {},
                         .stderr_file = "/dev/null"},
                        kToolTimeout)
          : fail(ErrorCode::kUnsupported, "no program");
  const bool is_bare = stripped && stripped->exit_code == 0;
  return sha256_hex_of_file(is_bare ? bare : file);
}

Result<ArtifactFile> describe_file(const std::string& name, const stdfs::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(auto digest, sha256_hex_of_file(folder / name));
  std::error_code error;
  const auto bytes = stdfs::file_size(folder / name, error);
  return ArtifactFile{.name = name,
                      .role = "program",
                      .bytes = static_cast<std::int64_t>(bytes),
                      .sha256 = std::move(digest)};
}

Status copy_output(const stdfs::path& from, const stdfs::path& to) {
  std::error_code error;
  stdfs::create_directories(to.parent_path(), error);
  if (stdfs::is_directory(from, error)) {
    stdfs::copy(from, to, stdfs::copy_options::recursive | stdfs::copy_options::copy_symlinks,
                error);
  } else {
    stdfs::copy_file(from, to, stdfs::copy_options::overwrite_existing, error);
  }
  if (!error) {
    return {};
  }
  const bool is_full = error == std::errc::no_space_on_device;
  return fail(is_full ? ErrorCode::kExhausted : ErrorCode::kUnavailable,
              fmt::format("cannot copy '{}': {}", from.string(), error.message()));
}

/// Folders come before what lies in them.
std::map<std::string, std::string> names_by_path(
    const std::map<std::string, std::string>& outputs) {
  std::map<std::string, std::string> names;
  for (const auto& [name, path] : outputs) {
    names.emplace(path, name);
  }
  return names;
}

std::string fault_of_output(const std::string& name, const stdfs::path& file) {
  std::error_code error;
  if (!stdfs::exists(file, error)) {
    return fmt::format("output '{}' was not built: '{}' is not there", name, file.string());
  }
  return stdfs::is_directory(file, error) ? fault_of_links(file) : "";
}

}  // namespace

Result<CollectedOutputs> collect_outputs(const std::map<std::string, std::string>& outputs,
                                         const stdfs::path& work, const stdfs::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const auto scratch, TemporaryFolder::make("assay-outputs"));
  CollectedOutputs collected;
  Json digests = Json::object();
  std::vector<std::string> copied;
  for (const auto& [path, name] : names_by_path(outputs)) {
    collected.fault = fault_of_output(name, work / path);
    if (!collected.fault.empty()) {
      return collected;
    }
    const bool is_there = std::ranges::any_of(
        copied, [&](const std::string& outer) { return path_below(path, outer).has_value(); });
    if (is_there) {  // It came with the folder around it.
      continue;
    }
    copied.push_back(path);
    ASSAY_RETURN_IF_ERROR(copy_output(work / path, folder / path));
    for (const auto& file : files_below(folder / path, folder)) {
      collected.fault = is_elf(folder / file) ? fault_of_libraries(folder / file, work) : "";
      if (!collected.fault.empty()) {
        return collected;
      }
      ASSAY_ASSIGN_OR_RETURN(auto described, describe_file(file, folder));
      collected.files.push_back(std::move(described));
      ASSAY_ASSIGN_OR_RETURN(digests[file], digest_without_symbols(folder / file, scratch.path()));
    }
  }
  collected.digest = digest_of_json(digests);
  return collected;
}

}  // namespace assay
