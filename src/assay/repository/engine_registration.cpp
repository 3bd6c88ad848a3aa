#include "assay/repository/engine_registration.h"

#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <system_error>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/shell.h"
#include "assay/engine/build_runner.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/revision_build.h"
#include "assay/record/subject.h"
#include "assay/repository/build_entry.h"
#include "assay/repository/repository_spec.h"

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
  const auto script = fmt::format(
      "#!/bin/sh\nexec {} \"$@\"\n",
      shell_command({(executable_folder() / "assay-runner-command").string(), "--name", engine,
                     "--version", label, "--build", entry.folder.string()}));
  const auto runner = engines_folder(home) / fmt::format("{}@{}", engine, label) /
                      fmt::format("assay-runner-{}", engine);
  ASSAY_RETURN_IF_ERROR(write_file_atomically(runner, script));
  std::error_code error;
  stdfs::permissions(runner, stdfs::perms::owner_exec, stdfs::perm_options::add, error);
  return runner;
}

/// The cmake that builds runners: the one of the toolchain's Python is new enough.
stdfs::path cmake_of_environment() {
  const char* named = std::getenv("ASSAY_CMAKE");
  return named == nullptr ? "cmake" : named;
}

}  // namespace

Result<EngineBuild> register_revision(const RepositorySpec& spec,
                                      const BuildEnvironment& environment,
                                      const std::string& revision, const BuildEntry& entry,
                                      const stdfs::path& home) {
  const auto& engine = spec.repository.engine;
  const auto label = label_of_build(spec, environment, revision);
  if (entry.outcome == BuildOutcome::kFailed) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}@{} failed to build: {}; its log is '{}'",
                                                     engine, label, entry.reason,
                                                     entry.log().string()));
  }
  const auto output = entry.output(main_output(entry));
  switch (environment.runner) {
    case RunnerKind::kProgram:
      return register_runner(home, output, engine, label);
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
    case RunnerKind::kCommand:
      break;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto runner, write_command_runner(engine, label, entry, home));
  return register_runner(home, runner, engine, label);
}

}  // namespace assay
