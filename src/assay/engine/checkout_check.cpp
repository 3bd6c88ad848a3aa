#include "assay/engine/checkout_check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/find_on_path.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/engine/buildable_engine.h"
#include "assay/engine/checkout_backends.h"
#include "assay/engine/checkout_tools.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kEngine = "executorch";
constexpr int kCmakeMajor = 3;
constexpr int kCmakeMinor = 28;

/// All that is missing, in the order in which it was looked for.
class Findings {
 public:
  void add(std::string problem) { problems_.push_back(std::move(problem)); }

  /// The value, or T() with a note of what is missing.
  template <class T>
  T take(Result<T> found) {
    if (!found) {
      add(found.error().message);
      return T();
    }
    return *std::move(found);
  }

  [[nodiscard]] Status status(const stdfs::path& checkout) const {
    if (problems_.empty()) {
      return {};
    }
    return fail(ErrorCode::kUnavailable,
                fmt::format("nothing was built from '{}', {} missing:\n  - {}", checkout.string(),
                            problems_.size() == 1 ? "one thing is"
                                                  : fmt::format("{} things are", problems_.size()),
                            fmt::join(problems_, "\n  - ")));
  }

 private:
  std::vector<std::string> problems_;
};

bool needs(const CheckoutRequest& request, BuildTool tool) {
  return std::ranges::any_of(request.backends, [tool](const CheckoutBackend* backend) {
    return std::ranges::find(backend->tools, tool) != backend->tools.end();
  });
}

/// "1.5" of "1.5.1": versions that agree so far share the program format and the headers.
std::string release_of(const std::string& version) {
  const auto second = version.find('.', version.find('.') + 1);
  return version.substr(0, second);
}

void check_version(const stdfs::path& checkout, const CheckoutTools& tools, Findings& findings) {
  const auto installed = installed_version(tools.package);
  if (tools.version.empty() || tools.package.empty() || installed.empty()) {
    return;
  }
  if (release_of(tools.version) != release_of(installed)) {
    findings.add(fmt::format(
        "the installed ExecuTorch is {} and the checkout is {}: git -C {} checkout v{}, or name "
        "another installation with --prefix or --python",
        installed, tools.version, checkout.string(), installed.substr(0, installed.find('+'))));
  }
}

/// Files that the backends need. Those of submodules come with one command for all of them.
void check_files(const CheckoutRequest& request, Findings& findings) {
  std::set<std::string> submodules;
  for (const auto* backend : request.backends) {
    for (const auto& file : backend->files) {
      if (stdfs::exists(request.checkout / file.path)) {
        continue;
      }
      if (file.submodule.empty()) {
        findings.add(
            fmt::format("this checkout has no {} for the backend {}; check out a release "
                        "that has it",
                        file.path, backend->name));
      } else {
        submodules.emplace(file.submodule);
      }
    }
  }
  if (!submodules.empty()) {
    findings.add(fmt::format("submodules are not checked out: git -C {} submodule update --init {}",
                             request.checkout.string(), fmt::join(submodules, " ")));
  }
}

void check_common_tools(const CheckoutRequest& request, Findings& findings) {
  const auto cmake = version_of_program(request.cmake.string());
  if (!cmake) {
    findings.add(fmt::format("no '{}' here: pip install cmake, or name one with --cmake",
                             request.cmake.string()));
  } else if (std::pair(cmake->major, cmake->minor) < std::pair(kCmakeMajor, kCmakeMinor)) {
    findings.add(
        fmt::format("'{}' is version {}.{}, and {}.{} is needed: pip install cmake, or "
                    "name one with --cmake",
                    request.cmake.string(), cmake->major, cmake->minor, kCmakeMajor, kCmakeMinor));
  }
  if (!version_of_program("ninja")) {
    findings.add("no ninja here: apt-get install ninja-build");
  }
  const char* named = std::getenv("CXX");
  const std::string compiler = named == nullptr ? "c++" : named;
  if (!find_on_path(compiler)) {
    findings.add(fmt::format("no C++ compiler '{}' here: apt-get install g++", compiler));
  }
}

void check_vulkan_tools(const CheckoutRequest& request, CheckoutTools& tools, Findings& findings) {
  if (needs(request, BuildTool::kGlslc)) {
    tools.glslc = findings.take(find_glslc());
    if (!tools.glslc.empty()) {
      tools.missing_extensions =
          findings.take(find_missing_extensions(tools.glslc, request.checkout));
    }
  }
  if (needs(request, BuildTool::kFlatc)) {
    tools.flatc = findings.take(find_flatc(tools.prefix, request.checkout));
  }
  if (needs(request, BuildTool::kYaml) && !has_module(request.python, "yaml")) {
    findings.add(
        fmt::format("'{0}' has no yaml, which the generator of shaders imports: {0} -m "
                    "pip install pyyaml",
                    request.python.string()));
  }
}

}  // namespace

Result<CheckoutTools> check_checkout(const CheckoutRequest& request) {
  Findings findings;
  CheckoutTools tools;
  tools.version = trimmed(read_file(request.checkout / "version.txt").value_or(""));
  if (tools.version.empty()) {
    findings.add(
        "this is no checkout of ExecuTorch, for it has no version.txt: git clone "
        "https://github.com/pytorch/executorch");
  } else {
    check_files(request, findings);
    tools.commit = commit_of(request.checkout);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto* engine, find_buildable_engine(kEngine));
  tools.prefix = request.prefix.empty() ? findings.take(find_installation(request.python, *engine))
                                        : request.prefix;
  if (!tools.prefix.empty()) {
    tools.package = findings.take(find_cmake_package(tools.prefix, *engine));
  }
  check_version(request.checkout, tools, findings);
  check_common_tools(request, findings);
  check_vulkan_tools(request, tools, findings);
  if (needs(request, BuildTool::kVgfLibrary)) {
    tools.vgf = findings.take(find_vgf_library(request.python));
  }
  if (needs(request, BuildTool::kTorchHeaders) && !has_module(request.python, "torch")) {
    findings.add(
        fmt::format("'{0}' has no torch, whose headers the operators include: {0} -m pip "
                    "install torch",
                    request.python.string()));
  }
  ASSAY_RETURN_IF_ERROR(findings.status(request.checkout));
  return tools;
}

}  // namespace assay
