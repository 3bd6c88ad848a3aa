#pragma once

#include "features/compare/compare.h"
#include "features/repository/build_cache.h"
#include "features/repository/build_entry.h"
#include "features/repository/builder.h"
#include "features/repository/mirror.h"
#include "features/repository/repository_spec.h"
#include "features/watch/revision_runner.h"

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/request_from_spec.h"
#include "assay/record/comparison.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"
#include "assay/spec/spec.h"

namespace assay::watch {

/// Errors: kNotFound, with a suggestion, where none of the labels has the text.
Status check_only(const std::string& only, const std::string& origin,
                  const std::vector<std::string>& labels);

/// The place where builds are measured: this machine, or devices of one class of a fleet.
struct MeasuringPlace {
  /// The device as it is planned for, with the engine builds that it has by now.
  std::function<Result<PlannedDevice>()> device;
  ExecuteCases execute;
  MakeComparison compare;
  bool is_here = true;
};

/// This machine. `home`: where its engine builds are.
MeasuringPlace measured_here(const std::filesystem::path& home);

/// Builds revisions on this machine and runs the repository's spec on them as any campaign and
/// comparison runs.
class RepositoryRunner final : public RevisionRunner {
 public:
  /// Parts that it works with; all outlive it.
  struct Parts {
    const RepositorySpec& spec;
    const BuildEnvironment& environment;
    Mirror& mirror;
    std::filesystem::path home;
    CampaignTools tools;
    MeasuringPlace place;
    /// Options of every run; labels of the sitting are added.
    RequestOptions options;
    /// Context in which a spec is read: the known models and recipes.
    SpecContext context;
    std::function<bool()> keep_going;
    std::string only = {};  ///< Cases that are measured for the history (WatchFilter).
  };

  explicit RepositoryRunner(Parts parts) : parts_(std::move(parts)) {}

  /// Reads the spec as it will be for any build, so that a mistake is told before the first build.
  /// Errors: those of read_file() and spec_from_json().
  Status check_spec();

  Result<RevisionBuild> build(const Revision& revision) override;
  /// Labels of the cases that are measured of a build. Errors: as measure().
  Result<std::vector<std::string>> labels_of_cases(const RevisionBuild& build);

  Result<Run> measure(const Sitting& sitting, std::string_view purpose, int rounds) override;
  Result<Comparison> compare(const BuildPair& pair, const ComparisonPlan& plan) override;
  Result<Json> explain(const BuildPair& pair) override;
  Result<Json> count_instructions(const BuildPair& pair) override;
  Result<std::vector<std::string>> changed_files(const Revision& revision) override;

 private:
  [[nodiscard]] Result<Json> read_document() const;
  /// The spec of the repository on these builds.
  Result<Spec> spec_for(const std::vector<RevisionBuild>& builds, const Json& changes);
  Result<PlannedRequest> request_for(Spec spec, std::string_view purpose,
                                     const std::map<std::string, std::string>& labels);
  /// The last run for the purpose with the labels that came to its end, or that was cut off.
  Result<std::optional<Run>> find_run(std::string_view purpose,
                                      const std::map<std::string, std::string>& labels,
                                      bool is_finished);
  struct Begun {
    Run run;
    Comparison comparison;
  };
  /// The comparison of the pair that was cut off, or that was made for its incident. Removes runs
  /// that died before they compared.
  Result<std::optional<Begun>> find_comparison(const BuildPair& pair,
                                               const std::map<std::string, std::string>& labels);
  /// Work on a run before it is finished, which nothing changes after.
  using BeforeEnd = std::function<Status(CampaignRequest&)>;
  Result<Run> run_sitting(const std::vector<RevisionBuild>& builds, const Json& changes,
                          std::string_view purpose,
                          const std::map<std::string, std::string>& labels,
                          const BeforeEnd& before_end = {});
  /// A run of both builds, or the one that was made before: it tells the same whoever asks.
  Result<Run> run_once(const BuildPair& pair, const Json& measure, std::string_view purpose,
                       const BeforeEnd& before_end = {});
  [[nodiscard]] std::map<std::string, std::string> labels_of(const RevisionBuild& build) const;

  /// Takes the build out of the cache, or makes it. The last few stay in use; of the others the
  /// least recently used are removed beyond the limit.
  Result<BuildEntry> take_build(const Revision& revision);

  Parts parts_;
  std::deque<BuildCache> in_use_;  ///< A cache object keeps the builds that it took out.
};

}  // namespace assay::watch
