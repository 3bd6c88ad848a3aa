#pragma once

#include "features/conform/conform.h"
#include "features/conform/known_gaps.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"
#include "assay/store/result_store.h"

/// Conformance runs in which what becomes of each case is written down beforehand.
namespace assay {

/// Behavior of a case alone, keyed by its number in model.args, from its first judgement on; the
/// last word stays. In a joint program it behaves as `joint` says.
struct Behaviour {
  std::vector<ConformVerdict> alone = {ConformVerdict::kPass};
  ConformVerdict joint = ConformVerdict::kPass;  ///< kCrashed and the like take the program along.
};

/// Stands for run_campaign: writes into the store what one would have found.
class ScriptedCampaign {
 public:
  explicit ScriptedCampaign(std::map<int, Behaviour> behaviours)
      : behaviours_(std::move(behaviours)) {}

  Status operator()(const CampaignRequest& request, const CampaignTools& tools);

  std::vector<std::string> log;  ///< "joint 3" or "alone 7 try 1", in order; no probes.
  ConformVerdict of_probe = ConformVerdict::kPass;
  std::string broken_build;  ///< Its probe crashes.
  std::string wrong_build;   ///< Its results are wrong, whatever the behaviours say.
  int stop_after = -1;
  bool is_stopped = false;
  std::pair<int, int> lost = {-1, -1};  ///< Case and try whose job comes back with nothing.

 private:
  Status execute(const CampaignRequest& request, const Case& cell, ResultStore& store);
  [[nodiscard]] bool is_lost(const Case& cell, int n) const;
  [[nodiscard]] ConformVerdict found_on(const Case& cell, ConformVerdict scripted) const;

  std::map<int, Behaviour> behaviours_;
};

/// Eight cases of two operators with one recipe.
struct ScriptedBench {
  std::unique_ptr<ResultStore> store = make_memory_store();
  TemporaryFolder folder = TemporaryFolder::make("assay-test").value();
  ArtifactCache cache{folder.path()};
  ConformRequest request;
  ScriptedCampaign campaign;
  std::string toolchain;  ///< Id of the toolchain; attempts have that of none.

  explicit ScriptedBench(std::map<int, Behaviour> behaviours, KnownGaps gaps = {});

  ConformReport run();
  Error refusal();  ///< Like run(), but the run cannot begin.

  void start_again();

 private:
  Result<ConformReport> try_run();
};

std::vector<ConformVerdict> verdicts_of(const ConformReport& report);

}  // namespace assay
