#pragma once

#include "features/repository/path_filter.h"
#include "features/repository/runner_kind.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/repository.h"
#include "assay/spec/spec.h"

namespace assay {

/// A toolchain with its flags: one way to build a revision.
struct BuildEnvironment {
  std::string name;
  std::vector<std::vector<std::string>> build;  ///< Commands, with {source} and {work} in place.
  std::map<std::string, std::string> outputs;   ///< Path below {work}, by name.
  RunnerKind runner = RunnerKind::kCommand;
  std::map<std::string, std::string> env;  ///< Beside PATH, HOME and TMPDIR; commands see no other.
  std::int64_t timeout_ns = 1'800'000'000'000;  ///< Limit of all commands together.
  bool reuses_work = false;                     ///< {work} keeps what the last build left.
  bool has_network = false;
  std::string engine_class = {};  ///< "FILE.py:Class" of kPython; empty: one of Assay's engines.
};

/// A named text that takes the place of {state} in the build commands.
struct NamedState {
  std::string name;
  std::string value;
};

/// Settings of a watcher.
struct WatchPolicy {
  std::string reference = "week";  ///< "pinned:REVISION", "week", "parent" or "none"
  int step = 1;                    ///< Commits between two that are measured without a suspicion.
  std::int64_t poll_ns = 300'000'000'000;
  int horizon = 200;                               ///< Commits of the branch that are looked at.
  int rounds = 3;                                  ///< Launches of each build in one sitting.
  std::map<std::string, double> min_effect_ratio;  ///< Keyed by metric.
  bool verifies = true;
  bool bisects = true;
  bool counts_instructions = true;     ///< Counts them of a culprit and its parent.
  double share_of_verification = 0.5;  ///< Largest share of the time.
  int broken_commits = 3;   ///< Newest ones that cannot be built make an incident; 0: never.
  int silent_commits = 20;  ///< So many without a point make an incident; 0: never.
  /// Such a time without a point makes an incident, too.
  std::int64_t silent_ns = std::int64_t{14} * 86400 * 1'000'000'000;
  std::int64_t keep_builds_bytes = 10'000'000'000;
};

/// A receiver of messages about incidents: a command or an address.
struct Notification {
  std::vector<std::string> argv;  ///< Command; empty: the message goes to `url`.
  std::string url;                ///< http or https.
  /// Its content is sent to `url` as a bearer token; empty: none is.
  std::filesystem::path token_file;
  std::vector<std::string> on;  ///< Names of IncidentState; empty: all.
};

/// A repository file that was read and checked.
struct RepositorySpec {
  std::string origin;  ///< File name, for messages.
  Repository repository;
  std::string branch;  ///< Empty: the one that the repository itself names.
  bool follows_first_parents = true;
  PathFilter paths;
  std::vector<BuildEnvironment> environments;  ///< At least one, in the order of the file.
  std::vector<NamedState> states;              ///< In the order of the file; usually empty.
  std::string states_at;  ///< The commit that all states are built from; empty: commits are built.
  std::filesystem::path python = "python3";  ///< Interpreter whose pip installs packages.
  /// The spec file that is measured, by its absolute path; may be empty.
  std::filesystem::path spec;
  Json measured;  ///< The spec itself, where it has no file.
  WatchPolicy policy;
  std::vector<Notification> notify;
  std::map<std::string, std::string> labels;
  Json document;  ///< The document as it was read.
  std::string digest;
};

/// Reads a repository file (JSON with comments, schema assay/repository/1,
/// docs/reference/repositories.md). Errors: kNotFound; kInvalidArgument with every problem on a
/// line of its own; kUnsupported for another schema version.
Result<RepositorySpec> read_repository_file(const std::filesystem::path& path);

/// Reads it from a text. `folder`: where its relative paths start. Does not touch the file system.
Result<RepositorySpec> repository_spec_from_text(std::string_view text, const std::string& origin,
                                                 const std::filesystem::path& folder);

/// An environment by name; the first one for an empty name. Errors: kNotFound with did-you-mean.
Result<BuildEnvironment> get_environment(const RepositorySpec& spec, const std::string& name);

/// "0123456789ab", or "0123456789ab-NAME" in another environment than the first; that of a state
/// begins with its commit, "0123456789ab-O2".
std::string label_of_build(const RepositorySpec& spec, const BuildEnvironment& environment,
                           const std::string& revision);

/// The environment with the state of a revision in place of {state}.
BuildEnvironment with_state(const RepositorySpec& spec, const BuildEnvironment& environment,
                            const std::string& revision);

/// Kind of its revisions: "commit", "version" or "state".
std::string_view noun_of_revisions(const RepositorySpec& spec);

/// The JSON Schema of repository files, by which editors complete and check them.
std::string_view repository_schema();

/// Keys that an object of the file may have, for the test of the JSON Schema.
std::span<const SpecKeys> repository_keys();

}  // namespace assay
