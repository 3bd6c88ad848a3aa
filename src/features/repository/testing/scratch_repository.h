#pragma once

#include "features/repository/repository_spec.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/fs.h"

/// Parts of tests of repositories.
namespace assay {

/// A small git repository with a user's checkout, and a home for Assay.
class ScratchRepository {
 public:
  ScratchRepository();

  [[nodiscard]] std::filesystem::path checkout() const { return folder_.path() / "checkout"; }
  [[nodiscard]] std::filesystem::path home() const { return folder_.path() / "home"; }
  [[nodiscard]] std::filesystem::path locks() const { return folder_.path() / "locks"; }

  void write(const std::string& name, std::string_view content) const;
  /// Commits everything, and returns the hash.
  [[nodiscard]] std::string commit(const std::string& subject) const;
  /// Writes one file and commits it.
  [[nodiscard]] std::string commit_file(const std::string& name, std::string_view content) const;
  /// Runs git in the checkout; aborts where that fails.
  std::string git(std::vector<std::string> arguments) const;

  /// A spec whose only environment has these commands and the output "bench".
  [[nodiscard]] RepositorySpec spec(std::vector<std::vector<std::string>> build) const;

 private:
  TemporaryFolder folder_;
};

/// A shell command as a step: tests have no compiler to wait for.
std::vector<std::string> shell_step(const std::string& script);

}  // namespace assay
