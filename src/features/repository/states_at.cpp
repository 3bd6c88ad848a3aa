#include "features/repository/states_at.h"

#include "features/repository/listed_states.h"
#include "features/repository/mirror.h"
#include "features/repository/path_filter.h"
#include "features/repository/repository_spec.h"

#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"

namespace assay {

StatesAt::StatesAt(std::unique_ptr<Mirror> mirror, const RepositorySpec& spec)
    : ListedStates(spec.repository.id(), "state"),
      mirror_(std::move(mirror)),
      commit_(spec.states_at) {
  std::vector<State> states;
  states.reserve(spec.states.size());
  for (const auto& [name, value] : spec.states) {
    states.push_back({.name = name, .subject = value});
  }
  set_states(std::move(states));
}

Result<MirrorUpdate> StatesAt::update() { return mirror_->update(); }

Result<std::string> StatesAt::content_digest(const std::string& /*revision*/,
                                             const PathFilter& paths) {
  return mirror_->content_digest(commit_, paths);
}

Status StatesAt::check_out(const std::string& /*revision*/, const std::filesystem::path& folder) {
  return mirror_->check_out(commit_, folder);
}

Result<RepositorySpec> spec_of_states(RepositorySpec spec, const std::string& commit) {
  if (spec.states.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: has no \"states\", such as {{\"O1\": \"-O1\", \"O2\": \"-O2\"}}",
                            spec.origin));
  }
  spec.states_at = commit;
  spec.repository.url += fmt::format("#states@{}", commit);
  return spec;
}

}  // namespace assay
