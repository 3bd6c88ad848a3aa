#include "features/repository/build_key.h"

#include "features/repository/repository_spec.h"
#include "features/repository/version_control.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/find_on_path.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/device/environment.h"
#include "assay/record/repository.h"

namespace assay {
namespace {

constexpr auto kUsualTools =
    std::to_array<const char*>({"cc", "c++", "ld", "as", "make", "cmake", "ninja"});
constexpr auto kOfThisProcessor =
    std::to_array<std::string_view>({"-march=native", "-mcpu=native", "-mtune=native"});

/// Programs outside of the source.
std::set<std::string> programs_of(const BuildEnvironment& environment) {
  std::set<std::string> programs(kUsualTools.begin(), kUsualTools.end());
  for (const auto& argv : environment.build) {
    if (argv.front().find('{') == std::string::npos) {
      programs.insert(argv.front());
    }
  }
  for (const char* variable : {"CC", "CXX", "LD"}) {
    if (const auto found = environment.env.find(variable); found != environment.env.end()) {
      programs.insert(found->second.substr(0, found->second.find(' ')));
    }
  }
  return programs;
}

/// The first line of `PROGRAM --version`; empty: it is not there, or says nothing.
std::string version_of(const std::string& program) {
  constexpr std::chrono::seconds kTimeout{10};
  const auto output = run_command(
      {.argv = {program, "--version"}, .env = {{"LC_ALL", "C.UTF-8"}}, .stderr_file = "/dev/null"},
      kTimeout);
  const auto lines = output ? lines_of(output->output) : std::vector<std::string>();
  return output && output->exit_code == 0 && !lines.empty() ? lines.front() : "";
}

bool asks_for_this_processor(const BuildEnvironment& environment) {
  const auto asks = [](const std::string& text) {
    return std::ranges::any_of(kOfThisProcessor, [&text](std::string_view flag) {
      return text.find(flag) != std::string::npos;
    });
  };
  return std::ranges::any_of(environment.env,
                             [&asks](const auto& entry) { return asks(entry.second); }) ||
         std::ranges::any_of(environment.build,
                             [&asks](const auto& argv) { return std::ranges::any_of(argv, asks); });
}

}  // namespace

Json tool_versions(const BuildEnvironment& environment) {
  Json versions = {{"libc", ::gnu_get_libc_version()}};
  for (const auto& program : programs_of(environment)) {
    if (auto version = version_of(program); !version.empty()) {
      versions[program] = std::move(version);
    }
  }
  return versions;
}

std::string build_key(const Repository& repository, const std::string& content_digest,
                      const BuildEnvironment& environment, const Json& tools) {
  Json parts = {{"repository", repository.id()}, {"content", content_digest},
                {"build", environment.build},    {"outputs", environment.outputs},
                {"env", environment.env},        {"tools", tools}};
  if (environment.reuses_work) {
    parts["reuse"] = true;  // The result of an earlier build may matter.
  }
  if (environment.has_network) {
    parts["network"] = true;  // A build that failed without it may go well.
  }
  if (asks_for_this_processor(environment)) {
    const auto machine = read_environment();
    parts["processor"] = {{"model", machine.cpu_model}, {"flags", machine.cpu_flags}};
  }
  return digest_of_json(parts);
}

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  if (const auto found = find_on_path(name)) {
    return found->string();
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("a build step needs '{}', which is not on PATH: install it", name));
}

}  // namespace assay
