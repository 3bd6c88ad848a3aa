#include "features/repository/wheel_index.h"

#include "features/repository/listed_states.h"
#include "features/repository/mirror.h"
#include "features/repository/path_filter.h"
#include "features/repository/repository_spec.h"
#include "features/repository/version_control.h"
#include "features/repository/wheel_spec.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/remove_tree.h"
#include "assay/base/result.h"

namespace assay {
namespace {

constexpr const char* kHowToGetPython = "name an interpreter with --python";
constexpr std::string_view kAvailable = "Available versions: ";

/// The versions in what `pip index versions` prints, newest first.
std::vector<std::string> versions_in(const std::vector<std::string>& lines) {
  for (const auto& line : lines) {
    if (!line.starts_with(kAvailable)) {
      continue;
    }
    auto versions = fields_of(line.substr(kAvailable.size()), ',', line.size());
    for (auto& version : versions) {
      version.erase(0, version.find_first_not_of(' '));
    }
    return versions;
  }
  return {};
}

}  // namespace

WheelIndex::WheelIndex(const RepositorySpec& spec)
    : ListedStates(spec.repository.id(), fmt::format("version of {}", spec.repository.url)),
      package_(spec.repository.url),
      has_prereleases_(spec.branch == kPrereleases),
      python_(spec.python) {}

std::string WheelIndex::requirement(const std::string& version) const {
  return fmt::format("{}=={}", package_, version);
}

Result<MirrorUpdate> WheelIndex::update() {
  std::vector<std::string> arguments{"-m",    "pip",      "--disable-pip-version-check",
                                     "index", "versions", package_};
  if (has_prereleases_) {
    arguments.emplace_back("--pre");
  }
  auto versions = VersionControl(python_.string(), kHowToGetPython).lines(std::move(arguments));
  if (!versions) {
    return fail_with_context(versions.error(), fmt::format("versions of {}", package_));
  }
  std::vector<State> states;
  for (auto& version : versions_in(*versions)) {
    auto subject = requirement(version);
    states.push_back({.name = std::move(version), .subject = std::move(subject)});
  }
  std::ranges::reverse(states);
  if (states.empty()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("pip lists no version of {} that can be installed here", package_));
  }
  set_states(std::move(states));
  return MirrorUpdate{.tip = this->states().back().name};
}

Result<std::string> WheelIndex::content_digest(const std::string& revision,
                                               const PathFilter& /*paths*/) {
  return sha256_hex(requirement(revision));
}

Status WheelIndex::check_out(const std::string& revision, const std::filesystem::path& folder) {
  ASSAY_RETURN_IF_ERROR(remove_tree(folder));
  return write_file_atomically(folder / kRequirements, requirement(revision) + "\n");
}

}  // namespace assay
