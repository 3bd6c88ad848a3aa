#include "features/repository/engine_registration.h"

#include "features/repository/build_cache.h"
#include "features/repository/build_entry.h"
#include "features/repository/repository_spec.h"
#include "features/repository/runner_kind.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"
#include "assay/base/shell.h"
#include "assay/engine/build_runner.h"
#include "assay/engine/installed_builds.h"
#include "assay/engine/known_engines.h"
#include "assay/engine/python_runner.h"
#include "assay/record/revision_build.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// The output that is the runner or the installation.
std::string main_output(const BuildEntry& entry) {
  return entry.outputs.contains("runner") ? "runner" : entry.outputs.begin()->first;
}

/// A runner that starts another one with the build's name: a registered runner has no arguments.
Result<stdfs::path> write_command_runner(const std::string& engine, const std::string& label,
                                         const BuildEntry& entry, const stdfs::path& home) {
  const auto script =
      fmt::format("#!/bin/sh\nexec {} \"$@\"\n",
                  shell_command({(executable_folder() / "assay-runner-command").string(), "--name",
                                 engine, "--version", label, "--build", entry.folder.string()}));
  auto runner = engines_folder(home) / fmt::format("{}@{}", engine, label) /
                fmt::format("assay-runner-{}", engine);
  // Another command may start it at any moment.
  ASSAY_RETURN_IF_ERROR(write_file_atomically(runner, script, 0755));
  return runner;
}

/// Entry of the build cache that an engine comes from; empty: it comes from elsewhere.
stdfs::path entry_folder_of(const EngineBuild& build, const stdfs::path& home) {
  auto files = build.reads;
  files.push_back(build.runner);
  for (const auto& file : files) {
    const auto below = path_below(file, builds_folder(home));
    if (below && std::distance(below->begin(), below->end()) > 1) {
      return builds_folder(home) / *below->begin() / *std::next(below->begin());
    }
  }
  return {};
}

/// The cmake that builds runners: the one of the toolchain's Python is new enough.
stdfs::path cmake_of_environment() {
  const char* named = std::getenv("ASSAY_CMAKE");
  return named == nullptr ? "cmake" : named;
}

/// A runner on the packages of a virtual environment: a script for an engine in Python, or else
/// one that is compiled against them.
Result<EngineBuild> register_environment(const BuildEnvironment& environment,
                                         const std::string& engine, const std::string& label,
                                         const stdfs::path& packages, const stdfs::path& home) {
  ASSAY_ASSIGN_OR_RETURN(const auto source, find_source_folder());
  const auto python = packages / "bin" / "python";
  if (!environment.engine_class.empty() || is_known_in_python(engine)) {
    return add_python_runner(
        {.name = engine,
         .label = label,
         .engine = environment.engine_class.empty() ? engine : environment.engine_class,
         .python = python,
         .source = source,
         .home = home});
  }
  return build_runner({.name = engine,
                       .label = label,
                       .prefix = {},
                       .python = python,
                       .cmake = cmake_of_environment(),
                       .source = source,
                       .home = home});
}

}  // namespace

bool is_portable(const BuildEntry& entry) {
  return entry.runner == RunnerKind::kCommand || entry.runner == RunnerKind::kProgram;
}

Result<EngineBuild> register_entry(const std::string& label, const BuildEntry& entry,
                                   const stdfs::path& home) {
  if (entry.runner == RunnerKind::kProgram) {
    return register_runner(home, entry.output(main_output(entry)), entry.engine, label);
  }
  if (entry.runner == RunnerKind::kCommand) {
    ASSAY_ASSIGN_OR_RETURN(const auto runner,
                           write_command_runner(entry.engine, label, entry, home));
    return register_runner(home, runner, entry.engine, label);
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("{}@{}: only builds with \"runner\": \"command\" or \"program\" work on "
                          "other machines",
                          entry.engine, label));
}

Result<std::optional<BuildEntry>> find_entry_of(const EngineBuild& engine,
                                                const stdfs::path& home) {
  const auto folder = entry_folder_of(engine, home);
  if (folder.empty()) {
    return std::optional<BuildEntry>();
  }
  ASSAY_ASSIGN_OR_RETURN(auto entry, read_build_document(folder));
  return std::optional(std::move(entry));
}

Result<EngineBuild> register_revision(const RepositorySpec& spec,
                                      const BuildEnvironment& environment,
                                      const std::string& revision, const BuildEntry& entry,
                                      const stdfs::path& home) {
  const auto& engine = spec.repository.engine;
  const auto label = label_of_build(spec, environment, revision);
  if (entry.outcome == BuildOutcome::kFailed) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}@{} failed to build: {}; its log is '{}'", engine, label,
                            entry.reason, entry.log().string()));
  }
  const auto output = entry.output(main_output(entry));
  switch (environment.runner) {
    case RunnerKind::kPrefix: {
      ASSAY_ASSIGN_OR_RETURN(const auto source, find_source_folder());
      return build_runner({.name = engine,
                           .label = label,
                           .prefix = output,
                           .python = {},
                           .cmake = cmake_of_environment(),
                           .source = source,
                           .home = home});
    }
    case RunnerKind::kPython:
      return register_environment(environment, engine, label, output, home);
    case RunnerKind::kProgram:
    case RunnerKind::kCommand:
      break;
  }
  auto known = entry;
  known.runner = environment.runner;
  return register_entry(label, known, home);
}

BuildCache claim_builds_of(std::span<const EngineBuild> engines, const stdfs::path& home) {
  BuildCache cache(builds_folder(home));
  for (const auto& engine : engines) {
    if (const auto folder = entry_folder_of(engine, home); !folder.empty()) {
      cache.claim(folder.filename().string());
    }
  }
  return cache;
}

Result<std::vector<std::string>> unregister_pruned(const stdfs::path& home) {
  std::vector<std::string> struck_off;
  for (const auto& engine : registered_builds(home)) {
    const auto folder = entry_folder_of(engine, home);
    if (folder.empty() || stdfs::exists(folder)) {
      continue;
    }
    ASSAY_RETURN_IF_ERROR(unregister_build(home, engine.reference()));
    std::error_code error;
    stdfs::remove_all(engines_folder(home) / engine.reference(), error);
    struck_off.push_back(engine.reference());
  }
  return struck_off;
}

}  // namespace assay
