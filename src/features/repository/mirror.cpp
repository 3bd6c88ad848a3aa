#include "features/repository/mirror.h"

#include "features/repository/git_mirror.h"
#include "features/repository/hg_mirror.h"
#include "features/repository/repository_spec.h"
#include "features/repository/wheel_index.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/repository.h"

namespace assay {
namespace {

Result<std::vector<Revision>> revisions_from_name(Mirror& mirror, const std::string& name) {
  const auto dots = name.find("..");
  if (dots == std::string::npos) {
    ASSAY_ASSIGN_OR_RETURN(const auto hash, mirror.resolve(name));
    return mirror.log({.tip = hash, .since = "", .limit = 1});
  }
  const auto last = name.substr(dots + 2);
  ASSAY_ASSIGN_OR_RETURN(const auto since, mirror.resolve(name.substr(0, dots)));
  ASSAY_ASSIGN_OR_RETURN(const auto tip, mirror.resolve(last.empty() ? "HEAD" : last));
  ASSAY_ASSIGN_OR_RETURN(auto revisions, mirror.log({.tip = tip, .since = since}));
  if (revisions.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' has no commits: name the older one first", name));
  }
  std::ranges::reverse(revisions);
  return revisions;
}

}  // namespace

std::unique_ptr<Mirror> make_mirror(const RepositorySpec& spec,
                                    const std::filesystem::path& folder) {
  switch (spec.repository.kind) {
    case RepositoryKind::kHg:
      return std::make_unique<HgMirror>(spec, folder);
    case RepositoryKind::kWheel:
      return std::make_unique<WheelIndex>(spec);
    case RepositoryKind::kGit:
      break;
  }
  return std::make_unique<GitMirror>(spec, folder);
}

std::filesystem::path repository_folder(const std::filesystem::path& home,
                                        const Repository& repository) {
  constexpr std::size_t kDigits = 12;
  return home / "repositories" /
         fmt::format("{}-{}", repository.engine, repository.id().substr(0, kDigits));
}

Result<std::vector<Revision>> revisions_from_names(Mirror& mirror,
                                                   const std::vector<std::string>& names) {
  std::vector<Revision> revisions;
  for (const auto& name : names) {
    ASSAY_ASSIGN_OR_RETURN(auto named, revisions_from_name(mirror, name));
    std::ranges::copy_if(named, std::back_inserter(revisions), [&](const Revision& revision) {
      return std::ranges::find(revisions, revision.hash, &Revision::hash) == revisions.end();
    });
  }
  return revisions;
}

}  // namespace assay
