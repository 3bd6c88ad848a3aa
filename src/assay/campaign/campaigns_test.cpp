// Campaigns on several devices.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/testing/campaign_bench.h"
#include "assay/campaign/testing/scripted_device.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Result<LaunchResult> complete(const LaunchRequest& request, int /*launch*/) {
  return timed_result(request, 1'000'000);
}

/// A run of one program on devices of one class, each scripted.
class Campaigns : public testing::Test {
 protected:
  void add_device(const std::string& name, ScriptedDevice::Script script) {
    if (parts_.empty()) {
      first_ = bench_.request_for({bench_.add_program("net")});
    }
    auto& device = devices_.emplace(name, std::move(script)).first->second;
    auto request = first_;
    request.context.device = name;
    request.context.environment.cpu_model = "processor of " + name;
    for (auto& cell : request.cases) {
      cell.device = name;
    }
    auto tools = bench_.tools();
    tools.connect_target = device.connector();
    parts_.push_back({.request = std::move(request), .tools = std::move(tools)});
  }

  std::map<std::string, int> launches_by_device() {
    std::map<std::string, int> launches;
    const auto attempts = bench_.store->attempts_of_run(run()).value();
    for (const auto& attempt : attempts) {
      launches[attempt.device] +=
          static_cast<int>(bench_.store->launches_of_attempt(attempt.id)->size());
    }
    return launches;
  }

  const std::string& run() const { return first_.context.run.id; }
  bool is_finished() { return bench_.store->get_run(run())->finished_unix_ns != 0; }

  CampaignBench bench_{complete};
  CampaignRequest first_;
  std::map<std::string, ScriptedDevice> devices_;
  std::vector<CampaignPart> parts_;
};

TEST_F(Campaigns, MeasureOneCaseOnEachDevice) {
  add_device("a", complete);
  add_device("b", complete);
  EXPECT_THAT(run_campaigns(parts_).value(), IsEmpty());
  EXPECT_TRUE(is_finished());
  EXPECT_THAT(launches_by_device(), ElementsAre(std::pair("a", 2), std::pair("b", 2)));
  std::vector<int> orders;
  const auto launches = bench_.launches_of_run(run());
  std::ranges::transform(launches, std::back_inserter(orders), &Launch::order);
  EXPECT_THAT(orders, ElementsAre(0, 1, 2, 3)) << "no position is taken twice";
  const auto machines = bench_.store->environments_of_run(run()).value();
  EXPECT_EQ(machines.at("b").cpu_model, "processor of b");
  const auto cases = bench_.store->cases_of_run(run()).value();
  ASSERT_THAT(cases, SizeIs(2));
  EXPECT_EQ(case_key(cases[0]), case_key(cases[1])) << "devices of one class form one series";
}

TEST_F(Campaigns, HaveNoDevicesOfTheirOwnWhereThereIsOne) {
  add_device("a", complete);
  EXPECT_THAT(run_campaigns(parts_).value(), IsEmpty());
  EXPECT_THAT(bench_.store->environments_of_run(run()).value(), IsEmpty());
}

TEST_F(Campaigns, MeasureAllDevicesAtTheSameTime) {
  std::mutex mutex;
  std::condition_variable changed;
  int present = 0;
  const auto meet = [&](const LaunchRequest& request, int launch) -> Result<LaunchResult> {
    std::unique_lock lock(mutex);
    ++present;
    changed.notify_all();
    const bool is_met =
        changed.wait_for(lock, std::chrono::seconds(60), [&present] { return present >= 2; });
    return is_met ? complete(request, launch) : fail(ErrorCode::kInternal, "it is alone");
  };
  add_device("a", meet);
  add_device("b", meet);
  EXPECT_THAT(run_campaigns(parts_).value(), IsEmpty());
  EXPECT_THAT(launches_by_device(), ElementsAre(std::pair("a", 2), std::pair("b", 2)));
}

TEST_F(Campaigns, MeasureThisMachineAloneAndFirst) {
  std::mutex mutex;
  std::vector<std::string> order;
  const auto note = [&](const std::string& name) {
    return [&, name](const LaunchRequest& request, int launch) {
      const std::scoped_lock lock(mutex);
      order.push_back(name);
      return complete(request, launch);
    };
  };
  add_device("a", note("a"));
  add_device("local", note("local"));
  EXPECT_THAT(run_campaigns(parts_).value(), IsEmpty());
  EXPECT_THAT(order, ElementsAre("local", "local", "a", "a"));
}

TEST_F(Campaigns, KeepTheCasesOfALostDeviceOpenAndLoseNothingElse) {
  add_device("a", complete);
  add_device("b", complete);
  parts_.back().tools.connect_target = []() -> Result<std::unique_ptr<LaunchTarget>> {
    return fail(ErrorCode::kTimeout, "no answer");
  };
  const auto unfinished = run_campaigns(parts_).value();
  ASSERT_THAT(unfinished, SizeIs(1));
  EXPECT_EQ(unfinished.front().device, "b");
  EXPECT_EQ(unfinished.front().error.message, "no answer");
  EXPECT_FALSE(is_finished());
  EXPECT_THAT(launches_by_device(), ElementsAre(std::pair("a", 2), std::pair("b", 0)));

  parts_.back().tools.connect_target = devices_.at("b").connector();
  for (auto& part : parts_) {
    part.request.context.is_resumed = true;
  }
  EXPECT_THAT(run_campaigns(parts_).value(), IsEmpty());
  EXPECT_TRUE(is_finished());
  EXPECT_THAT(launches_by_device(), ElementsAre(std::pair("a", 2), std::pair("b", 2)))
      << "what is done is not done again";
}

/// Tells when it ends.
class NotedTarget final : public LaunchTarget {
 public:
  NotedTarget(std::unique_ptr<LaunchTarget> target, std::vector<std::string>& events)
      : target_(std::move(target)), events_(events) {}
  ~NotedTarget() override { events_.emplace_back("target"); }
  NotedTarget(const NotedTarget&) = delete;
  NotedTarget& operator=(const NotedTarget&) = delete;
  Result<LaunchResult> run(const LaunchRequest& request) override { return target_->run(request); }
  bool is_alive() override { return target_->is_alive(); }

 private:
  std::unique_ptr<LaunchTarget> target_;
  std::vector<std::string>& events_;
};

TEST_F(Campaigns, FreeADeviceWhenItsOwnCasesAreDone) {
  std::vector<std::string> ended;
  add_device("a", complete);
  auto& tools = parts_.back().tools;
  tools.connect_target =
      [&ended, connect = tools.connect_target]() -> Result<std::unique_ptr<LaunchTarget>> {
    ASSAY_ASSIGN_OR_RETURN(auto target, connect());
    return std::make_unique<NotedTarget>(std::move(target), ended);
  };
  tools.lock_device = [&ended]() -> Result<std::shared_ptr<void>> {
    return std::shared_ptr<void>(nullptr, [&ended](void*) { ended.emplace_back("lock"); });
  };
  add_device("local", complete);
  EXPECT_THAT(run_campaigns(parts_).value(), IsEmpty());
  EXPECT_THAT(ended, ElementsAre("target", "lock")) << "others may have it then";
}

TEST_F(Campaigns, StopOnAllDevicesWhenAsked) {
  add_device("a", complete);
  add_device("b", complete);
  bench_.listener.stop_after = 0;
  EXPECT_EQ(run_campaigns(parts_).error().code, ErrorCode::kTimeout);
  EXPECT_FALSE(is_finished());
}

}  // namespace
}  // namespace assay
