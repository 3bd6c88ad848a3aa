#pragma once

#include "features/repository/mirror.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/repository.h"

namespace assay {

/// Named states in an order, in place of commits: versions of a package, sets of flags. A state is
/// a Revision whose hash is its name and whose position is its place in the list.
class ListedStates : public Mirror {
 public:
  /// The name of a state; HEAD and HEAD~2 count from the last.
  Result<std::string> resolve(std::string_view name) override;
  Result<std::vector<Revision>> log(const RevisionRange& range) override;
  /// None: the list says nothing of files.
  Result<std::vector<std::string>> changed_files(const std::string& revision) override;

 protected:
  struct State {
    std::string name;
    std::string subject;
    std::int64_t unix_ns = 0;  ///< When it came to be; 0: not known.
  };

  /// `what`: "version", for messages.
  ListedStates(std::string repository_id, std::string what)
      : repository_id_(std::move(repository_id)), what_(std::move(what)) {}
  /// Oldest first.
  void set_states(std::vector<State> states) { states_ = std::move(states); }
  [[nodiscard]] const std::vector<State>& states() const { return states_; }

 private:
  /// Position of a state from 0; the number of states for an unknown name.
  [[nodiscard]] std::size_t place_of(std::string_view name) const;

  std::string repository_id_;
  std::string what_;
  std::vector<State> states_;
};

}  // namespace assay
