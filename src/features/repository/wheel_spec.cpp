#include "features/repository/wheel_spec.h"

#include "features/repository/repository_spec.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/known_engines.h"
#include "assay/record/repository.h"

namespace assay {
namespace {

constexpr std::string_view kPython = "{python}";

bool is_prerelease(const std::string& version) {
  return std::ranges::any_of(version, [](unsigned char one) { return std::isalpha(one) != 0; });
}

/// The engine whose package it is, or empty.
std::string engine_of_package(const std::string& package) {
  const auto engines = known_engines();
  const auto found = std::ranges::find(engines, package, &KnownEngine::package);
  return found == engines.end() ? "" : found->name;
}

}  // namespace

Result<std::optional<VersionRange>> version_range_from_text(const std::string& text) {
  const auto equals = text.find("==");
  if (equals == std::string::npos) {
    return std::nullopt;
  }
  const auto dots = text.find("..", equals);
  VersionRange range{.package = text.substr(0, equals)};
  if (dots != std::string::npos) {
    range.first = text.substr(equals + 2, dots - equals - 2);
    range.last = text.substr(dots + 2);
  }
  const bool is_word = !range.package.empty() && range.package.front() != '-';
  if (!is_word || range.first.empty() || range.last.empty()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}': write PACKAGE==GOOD..BAD, such as onnxruntime==1.23.0..1.27.0", text));
  }
  return range;
}

BuildEnvironment wheel_environment() {
  const std::string python(kPython);
  return {.name = "default",
          // Copies, because an environment that leads out of the cache could change.
          .build = {{python, "-m", "venv", "--copies", "--without-pip", "{work}/venv"},
                    {python, "-m", "pip", "--python", "{work}/venv/bin/python", "install",
                     "--no-compile", "--disable-pip-version-check", "--requirement",
                     fmt::format("{{source}}/{}", kRequirements)}},
          .outputs = {{"runner", "venv"}},
          .runner = RunnerKind::kPython,
          .has_network = true};
}

Result<RepositorySpec> repository_spec_of(const VersionRange& range) {
  RepositorySpec spec{.origin = range.package, .environments = {wheel_environment()}};
  spec.repository = {.kind = RepositoryKind::kWheel,
                     .url = range.package,
                     .engine = engine_of_package(range.package)};
  if (spec.repository.engine.empty()) {
    std::vector<std::string> packages;
    for (const auto& engine : known_engines()) {
      if (!engine.package.empty()) {
        packages.push_back(engine.package);
      }
    }
    return fail(ErrorCode::kNotFound,
                fmt::format("no engine of Assay comes in the package '{}' (those that do: {}); for "
                            "another one write a repository file of the kind wheel",
                            range.package, fmt::join(packages, ", ")));
  }
  if (is_prerelease(range.first) || is_prerelease(range.last)) {
    spec.branch = kPrereleases;
  }
  return spec;
}

void use_python(const std::filesystem::path& python, RepositorySpec& spec) {
  spec.python = python;
  for (auto& environment : spec.environments) {
    for (auto& argv : environment.build) {
      std::ranges::replace(argv, std::string(kPython), python.string());
    }
  }
}

}  // namespace assay
