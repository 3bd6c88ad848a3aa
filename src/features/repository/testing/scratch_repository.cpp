#include "features/repository/testing/scratch_repository.h"

#include "features/repository/repository_spec.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay {

ScratchRepository::ScratchRepository() : folder_(TemporaryFolder::make("assay-scratch").value()) {
  std::filesystem::create_directories(checkout());
  git({"init", "--quiet", "--initial-branch=main"});
}

std::string ScratchRepository::git(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(),
                   {"git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c",
                    "commit.gpgsign=false", "-c", "gc.auto=0", "-C", checkout().string()});
  const auto output = run_command({.argv = std::move(arguments), .env = {}, .stderr_file = ""},
                                  std::chrono::minutes(1));
  ASSAY_CHECK(output.has_value() && output->exit_code == 0);
  return output->output;
}

void ScratchRepository::write(const std::string& name, std::string_view content) const {
  ASSAY_CHECK(write_file_atomically(checkout() / name, content).has_value());
}

std::string ScratchRepository::commit(const std::string& subject) const {
  git({"add", "--all"});
  git({"commit", "--quiet", "--allow-empty", "--message", subject});
  const auto hash = git({"rev-parse", "HEAD"});
  return hash.substr(0, hash.find('\n'));
}

std::string ScratchRepository::commit_file(const std::string& name,
                                           std::string_view content) const {
  write(name, content);
  return commit("change " + name);
}

RepositorySpec ScratchRepository::spec(std::vector<std::vector<std::string>> build) const {
  RepositorySpec spec{.origin = "scratch.json"};
  spec.repository = {.url = checkout().string(), .engine = "toy"};
  spec.environments = {
      {.name = "default", .build = std::move(build), .outputs = {{"bench", "bin/bench"}}}};
  return spec;
}

std::vector<std::string> shell_step(const std::string& script) {
  return {"/bin/sh", "-ec", script};
}

}  // namespace assay
