#include "assay/engine/checkout_tools.h"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/find_on_path.h"
#include "assay/base/fs.h"
#include "assay/base/python_command.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::chrono::seconds kTimeout{30};
constexpr const char* kShaders = "backends/vulkan/runtime/graph/ops/glsl";

/// Text that a command prints on stdout; nullopt: it does not start, or fails.
std::optional<std::string> output_of(const std::vector<std::string>& argv) {
  const auto answer = run_command(
      {.argv = argv, .env = python_environment(), .stderr_file = "/dev/null"}, kTimeout);
  return answer && answer->exit_code == 0 ? std::optional(answer->output) : std::nullopt;
}

int number_from(const std::string& digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::optional<ProgramVersion> version_in(const std::string& text) {
  static const std::regex pattern(R"((\d+)\.(\d+)(?:\.(\d+))?)");
  std::smatch found;
  if (!std::regex_search(text, found, pattern)) {
    return std::nullopt;
  }
  return ProgramVersion{.major = number_from(found[1]),
                        .minor = number_from(found[2]),
                        .patch = number_from(found[3])};
}

/// The version that flatbuffers' header names, which generated code must fit; nullopt: it is not
/// checked out.
std::optional<ProgramVersion> flatbuffers_of(const stdfs::path& checkout) {
  const auto header =
      read_file(checkout / "third-party/flatbuffers/include/flatbuffers/base.h").value_or("");
  const auto part = [&header](const char* name) {
    const std::regex define(fmt::format(R"(#define FLATBUFFERS_VERSION_{} (\d+))", name));
    std::smatch found;
    return std::regex_search(header, found, define) ? number_from(found[1]) : -1;
  };
  const ProgramVersion version{
      .major = part("MAJOR"), .minor = part("MINOR"), .patch = part("REVISION")};
  return version.major < 0 ? std::nullopt : std::optional(version);
}

/// Extensions that any shader of the checkout asks for by "require".
std::set<std::string> required_extensions(const stdfs::path& checkout) {
  static const std::regex pattern(R"(#extension\s+(\w+)\s*:\s*require\b)");
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : stdfs::directory_iterator(checkout / kShaders, error)) {
    const auto text = read_file(entry.path()).value_or("");
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
      names.insert((*it)[1]);
    }
  }
  return names;
}

/// Compiles a shader that does nothing but require an extension; an empty name: nothing.
bool compiles(const stdfs::path& glslc, const stdfs::path& folder, const std::string& extension) {
  const auto shader = folder / "probe.glsl";
  const auto line =
      extension.empty() ? std::string() : fmt::format("#extension {} : require\n", extension);
  return write_file_atomically(shader, "#version 450 core\n" + line + "void main() {}\n") &&
         output_of({glslc.string(), "-fshader-stage=compute", "--target-env=vulkan1.3",
                    shader.string(), "-o", (folder / "probe.spv").string()});
}

}  // namespace

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos
             ? std::string()
             : std::string(text.substr(first, text.find_last_not_of(kSpace) + 1 - first));
}

std::optional<ProgramVersion> version_of_program(const std::string& program) {
  const auto text = output_of({program, "--version"});
  return text ? version_in(*text) : std::nullopt;
}

std::string installed_version(const stdfs::path& package) {
  const auto text = read_file(package / "executorch-config-version.cmake").value_or("");
  for (const auto* name : {"EXECUTORCH_BUILD_VERSION", "PACKAGE_VERSION"}) {
    const std::regex line(fmt::format(R"re(set\({}\s+"([^"]+)"\))re", name));
    std::smatch found;
    if (std::regex_search(text, found, line)) {
      return found[1];
    }
  }
  return {};
}

std::string commit_of(const stdfs::path& checkout) {
  if (!stdfs::exists(checkout / ".git")) {
    return {};  // A folder that lies in another repository has that one's commit.
  }
  const auto said = output_of({"git", "-C", checkout.string(), "describe", "--always", "--dirty",
                               "--abbrev=12", "--exclude=*"});
  return said ? trimmed(*said) : std::string();
}

bool has_module(const stdfs::path& python, std::string_view module) {
  return output_of(python_text_argv(
                       python,
                       fmt::format("import importlib.util as u, sys; sys.exit(u.find_spec('{}') is "
                                   "None)",
                                   module)))
      .has_value();
}

Result<stdfs::path> find_glslc() {
  const char* sdk = std::getenv("VULKAN_SDK");
  const auto beside =
      sdk == nullptr ? std::nullopt : find_on_path((stdfs::path(sdk) / "bin/glslc").string());
  if (const auto found = beside ? beside : find_on_path("glslc")) {
    return *found;
  }
  return fail(ErrorCode::kUnavailable,
              "no glslc, which compiles shaders: apt-get install glslc, or the Vulkan SDK 1.4.341 "
              "or newer (https://vulkan.lunarg.com/sdk/home) with its folder in VULKAN_SDK");
}

Result<std::vector<std::string>> find_missing_extensions(const stdfs::path& glslc,
                                                         const stdfs::path& checkout) {
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-glslc"));
  if (!compiles(glslc, folder.path(), "")) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("'{}' does not compile an empty shader; install another glslc",
                            glslc.string()));
  }
  std::vector<std::string> missing;
  for (const auto& extension : required_extensions(checkout)) {
    if (!compiles(glslc, folder.path(), extension)) {
      missing.push_back(extension);
    }
  }
  return missing;
}

Result<stdfs::path> find_flatc(const stdfs::path& prefix, const stdfs::path& checkout) {
  const auto wanted = flatbuffers_of(checkout);
  const auto fits = [&wanted](const stdfs::path& flatc) {
    const auto version = version_of_program(flatc.string());
    return version && (!wanted || *version == *wanted);
  };
  auto in_wheel = prefix / "data/bin/flatc";
  if (stdfs::exists(in_wheel) && fits(in_wheel)) {
    return in_wheel;
  }
  if (const auto found = find_on_path("flatc"); found && fits(*found)) {
    return *found;
  }
  return fail(
      ErrorCode::kUnavailable,
      fmt::format(
          "no flatc{} in '{}' or on PATH, which must be of the version of the "
          "checkout's flatbuffers: pip install executorch of the checkout's "
          "version, which brings it",
          wanted ? fmt::format(" {}.{}.{}", wanted->major, wanted->minor, wanted->patch) : "",
          prefix.string()));
}

Result<stdfs::path> find_vgf_library(const stdfs::path& python) {
  const char* named = std::getenv("EXECUTORCH_VGF_ROOT");
  const auto said = output_of(python_text_argv(
      python,
      "import importlib.util as u, pathlib as p; s = u.find_spec('vgf_lib'); "
      "print(p.Path(next(iter(s.submodule_search_locations))) / 'binaries' if s else '')"));
  for (const auto& folder :
       {stdfs::path(named == nullptr ? "" : named), stdfs::path(trimmed(said.value_or("")))}) {
    if (!folder.empty() && stdfs::exists(folder / "lib/libvgf.a") &&
        stdfs::exists(folder / "include/vgf/decoder.hpp")) {
      return folder;
    }
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("no libvgf.a: {} -m pip install --no-deps ai-ml-sdk-vgf-library, or set "
                          "EXECUTORCH_VGF_ROOT to a folder with lib/libvgf.a and include/vgf",
                          python.string()));
}

}  // namespace assay
