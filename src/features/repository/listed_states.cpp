#include "features/repository/listed_states.h"

#include "features/repository/mirror.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/record/repository.h"

namespace assay {
namespace {

constexpr std::string_view kLast = "HEAD";

/// 2 of "HEAD~2", 0 of "HEAD"; -1 of anything else.
std::int64_t steps_before_last(std::string_view name) {
  if (name == kLast) {
    return 0;
  }
  if (!name.starts_with("HEAD~")) {
    return -1;
  }
  const auto digits = name.substr(kLast.size() + 1);
  std::int64_t steps = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), steps);
  return error == std::errc() && end == digits.data() + digits.size() ? steps : -1;
}

}  // namespace

std::size_t ListedStates::place_of(std::string_view name) const {
  const auto steps = steps_before_last(name);
  if (steps >= 0 && steps < static_cast<std::int64_t>(states_.size())) {
    return states_.size() - 1 - static_cast<std::size_t>(steps);
  }
  const auto found = std::ranges::find(states_, name, &State::name);
  return static_cast<std::size_t>(found - states_.begin());
}

Result<std::string> ListedStates::resolve(std::string_view name) {
  const auto place = place_of(name);
  if (place < states_.size()) {
    return states_[place].name;
  }
  std::vector<std::string> names;
  std::ranges::transform(states_, std::back_inserter(names), &State::name);
  return fail(ErrorCode::kNotFound,
              fmt::format("no {} '{}'{}", what_, name, suggestion_for(name, names)));
}

Result<std::vector<Revision>> ListedStates::log(const RevisionRange& range) {
  const auto tip = place_of(range.tip);
  const auto since = range.since.empty() ? -1 : static_cast<std::int64_t>(place_of(range.since));
  std::vector<Revision> revisions;
  for (auto place = static_cast<std::int64_t>(std::min(tip + 1, states_.size())) - 1;
       place > since &&
       (range.limit < 0 || revisions.size() < static_cast<std::size_t>(range.limit));
       --place) {
    const auto& state = states_[static_cast<std::size_t>(place)];
    Revision revision{.repository = repository_id_,
                      .hash = state.name,
                      .position = place + 1,
                      .authored_unix_ns = state.unix_ns,
                      .committed_unix_ns = state.unix_ns,
                      .subject = state.subject};
    if (place > 0) {
      revision.parents = {states_[static_cast<std::size_t>(place - 1)].name};
    }
    revisions.push_back(std::move(revision));
  }
  return revisions;
}

Result<std::vector<std::string>> ListedStates::changed_files(const std::string& /*revision*/) {
  return std::vector<std::string>();
}

}  // namespace assay
