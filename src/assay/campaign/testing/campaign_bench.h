#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/testing/scripted_device.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {

/// Ends a campaign after so many finished steps; -1: never.
class StoppingListener : public CampaignListener {
 public:
  void on_step_finished(std::string_view /*label*/, Outcome /*outcome*/,
                        std::string_view /*text*/) override {
    ++steps;
  }
  void on_note(std::string_view text) override { notes.emplace_back(text); }
  bool should_stop() override { return stop_after >= 0 && steps >= stop_after; }

  std::vector<std::string> notes;
  int stop_after = -1;
  int steps = 0;
};

/// A campaign of finished programs on a scripted device: no process, no toolchain, no engine.
struct CampaignBench {
  explicit CampaignBench(ScriptedDevice::Script script) : device(std::move(script)) {}

  /// A case for a new program of this name, "net", on an engine build.
  Case add_program(const std::string& name, const std::string& engine_build = "fake@1");

  /// Puts inputs for the case into the cache, of one sample and without expected outputs, as a
  /// toolchain would have made them.
  void keep_inputs(const Case& cell) const;

  /// A new run of these cases: two timing launches of each, and nothing else.
  CampaignRequest request_for(std::vector<Case> cases) const;

  CampaignTools tools();

  /// The launches of a run in the order in which they were made.
  std::vector<Launch> launches_of_run(const std::string& run);
  /// The attempts of a case, by its program's name.
  std::vector<Attempt> attempts_of_program(const std::string& run, const std::string& name);

  std::unique_ptr<ResultStore> store = make_memory_store();
  TemporaryFolder folder = TemporaryFolder::make("assay-test").value();
  ArtifactCache cache{folder.path() / "cache"};
  StoppingListener listener;
  ScriptedDevice device;
  int locks = 0;  ///< Number of times that the device was locked.
};

/// "net" of a request for the program "net.fake.json".
std::string program_of(const LaunchRequest& request);

}  // namespace assay
