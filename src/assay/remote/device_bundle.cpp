#include "assay/remote/device_bundle.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fnmatch.h>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/file_digests.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/device/environment.h"
#include "assay/remote/device_programs.h"

namespace assay {
namespace {

constexpr std::string_view kElf =
    "\x7f"
    "ELF";
constexpr const char* kLibraries = "lib";

/// "\tlibfmt.so.9 => /usr/lib/libfmt.so.9 (0x7f…)" -> its path; the loader has only a path. Empty
/// for the kernel's own library.
std::string path_from_line(const std::string& line) {
  const auto first = line.find('/');
  const auto last = line.rfind(" (0x");
  return first == std::string::npos || last == std::string::npos || last < first
             ? ""
             : line.substr(first, last - first);
}

Result<std::vector<std::filesystem::path>> libraries_of(const std::filesystem::path& program) {
  using std::chrono_literals::operator""s;
  ASSAY_ASSIGN_OR_RETURN(const auto answer, run_command({.argv = {"ldd", program.string()}}, 30s));
  std::vector<std::filesystem::path> libraries;
  std::istringstream lines(answer.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.contains("not found")) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("'{}' lacks a library here:{}", program.string(), line));
    }
    if (auto path = path_from_line(line); !path.empty()) {
      libraries.emplace_back(std::move(path));
    }
  }
  return libraries;
}

/// Files next to the libraries whose names match the pattern.
std::vector<std::filesystem::path> files_beside(const std::vector<std::filesystem::path>& libraries,
                                                const std::string& pattern) {
  std::set<std::filesystem::path> folders;
  for (const auto& library : libraries) {
    folders.insert(library.parent_path());
  }
  std::vector<std::filesystem::path> found;
  for (const auto& folder : folders) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (::fnmatch(pattern.c_str(), entry.path().filename().c_str(), 0) == 0) {
        found.push_back(entry.path());
      }
    }
  }
  return found;
}

/// All libraries of a program: those that it needs, those that it opens, and what these need.
Result<std::vector<std::filesystem::path>> libraries_with(const std::filesystem::path& program,
                                                          std::span<const std::string> loads) {
  ASSAY_ASSIGN_OR_RETURN(auto libraries, libraries_of(program));
  const auto needed = libraries;
  for (const auto& pattern : loads) {
    const auto opened = files_beside(needed, pattern);
    if (opened.empty()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("'{}' opens {} while it runs, which is beside none of its libraries",
                              program.string(), pattern));
    }
    for (const auto& library : opened) {
      libraries.push_back(library);
      ASSAY_ASSIGN_OR_RETURN(const auto further, libraries_of(library));
      libraries.insert(libraries.end(), further.begin(), further.end());
    }
  }
  return libraries;
}

bool is_loader(const std::filesystem::path& library) {
  return library.filename().string().starts_with("ld-linux");
}

Result<BundleFile> bundle_file(std::string path, const std::filesystem::path& source,
                               bool is_executable, FileDigests& digests) {
  ASSAY_ASSIGN_OR_RETURN(auto digest, digests.digest_of(source));
  return BundleFile{.path = std::move(path),
                    .source = source,
                    .sha256 = std::move(digest),
                    .is_executable = is_executable};
}

}  // namespace

Result<DeviceBundle> bundle_of_program(const std::filesystem::path& program,
                                       std::span<const std::string> loads, FileDigests& digests) {
  ASSAY_ASSIGN_OR_RETURN(const auto content, read_file(program));
  if (!content.starts_with(kElf)) {
    return fail(ErrorCode::kUnsupported,
                "its runner is a program of Python, which Assay does not bring to devices");
  }
  DeviceBundle bundle{.triple = triple_of_machine(read_system_facts().machine)};
  const auto name = program.filename().string();
  ASSAY_ASSIGN_OR_RETURN(auto file, bundle_file(name, program, /*is_executable=*/true, digests));
  bundle.files.push_back(std::move(file));
  ASSAY_ASSIGN_OR_RETURN(const auto libraries, libraries_with(program, loads));
  std::set<std::filesystem::path> names;
  for (const auto& library : libraries) {
    if (!names.insert(library.filename()).second) {
      continue;
    }
    const auto path = std::filesystem::path(kLibraries) / library.filename();
    ASSAY_ASSIGN_OR_RETURN(file, bundle_file(path.string(), library, is_loader(library), digests));
    bundle.files.push_back(std::move(file));
    if (is_loader(library)) {
      bundle.argv = {path.string(), "--library-path", kLibraries};
    }
  }
  bundle.argv.push_back(name);
  return bundle;
}

Result<DeviceBundle> read_bundle(const std::filesystem::path& folder, FileDigests& digests) {
  ASSAY_ASSIGN_OR_RETURN(const auto document, read_json_file(folder / "bundle.json"));
  DeviceBundle bundle;
  try {
    document.at("triple").get_to(bundle.triple);
    document.at("argv").get_to(bundle.argv);
    for (const auto& [path, digest] : document.at("files").items()) {
      bundle.files.push_back({.path = path, .source = folder / path, .sha256 = digest});
    }
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, fmt::format("'{}' is no bundle of a runner: {}",
                                                 (folder / "bundle.json").string(), error.what()));
  }
  if (bundle.argv.empty()) {
    return fail(ErrorCode::kCorrupt, fmt::format("'{}' does not say how to start its runner",
                                                 (folder / "bundle.json").string()));
  }
  for (auto& file : bundle.files) {
    ASSAY_ASSIGN_OR_RETURN(const auto digest, digests.digest_of(file.source));
    if (digest != file.sha256) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("'{}' has changed since its bundle was made; make it again",
                              file.source.string()));
    }
    file.is_executable = std::ranges::find(bundle.argv, file.path) != bundle.argv.end();
  }
  return bundle;
}

}  // namespace assay
