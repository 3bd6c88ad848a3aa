#include "features/fleet/choose_group.h"

#include "features/fleet/fleet_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

FleetWorker worker_of(const std::string& device, const std::string& device_class,
                      const std::vector<std::string>& labels) {
  FleetWorker worker{.device = device, .environment = {.device_class = device_class}};
  for (const auto& label : labels) {
    worker.builds.push_back({.name = "executorch", .label = label, .build_id = "id of " + label});
  }
  return worker;
}

std::vector<std::string> names_of(const Result<std::vector<ChosenDevices>>& chosen) {
  std::vector<std::string> names;
  for (const auto& one : chosen.value()) {
    names.push_back(one.requirement.queue());
  }
  return names;
}

TEST(ChooseFleetDevices, TakesTheOnlyClassWithTheBuildsThatAllHave) {
  const std::vector workers{worker_of("pi1", "arm:2cpu", {"1", "2"}),
                            worker_of("pi2", "arm:2cpu", {"2"})};
  const auto chosen = choose_fleet_devices({}, workers);
  EXPECT_THAT(names_of(chosen), ElementsAre("class:arm:2cpu"));
  ASSERT_EQ(chosen->front().planned.installed.builds.size(), 1U);
  EXPECT_EQ(chosen->front().planned.installed.builds.front().label, "2");
}

TEST(ChooseFleetDevices, ADeviceThatIsOutTakesNoBuildFromItsClass) {
  std::vector workers{worker_of("pi1", "arm:2cpu", {"1"}), worker_of("pi2", "arm:2cpu", {})};
  workers[1].state = "out";
  const auto chosen = choose_fleet_devices({}, workers);
  EXPECT_EQ(chosen.value().front().planned.installed.builds.size(), 1U);
}

TEST(ChooseFleetDevices, NamesWhatThereIs) {
  const std::vector workers{worker_of("pi", "arm:2cpu", {}), worker_of("pc", "x86:8cpu", {})};
  EXPECT_THAT(names_of(choose_fleet_devices(std::vector<std::string>{"all"}, workers)),
              ElementsAre("class:arm:2cpu", "class:x86:8cpu"));
  EXPECT_THAT(names_of(choose_fleet_devices(std::vector<std::string>{"class:arm", "pc"}, workers)),
              ElementsAre("class:arm:2cpu", "device:pc"));
  EXPECT_THAT(choose_fleet_devices({}, workers).error().message, HasSubstr("class:x86:8cpu"));
  EXPECT_THAT(choose_fleet_devices(std::vector<std::string>{"phone"}, workers).error().message,
              HasSubstr("pi, pc"));
}

TEST(ChooseFleetDevices, LeavesOutWhatCouldNotBeAsked) {
  const auto silent = worker_from_json({{"schema", "assay/fleet-worker/1"},
                                        {"device", "hot"},
                                        {"state", "out"},
                                        {"reason", "61 °C, must be below 45"}});
  ASSERT_TRUE(silent.has_value()) << silent.error().message;
  const std::vector with_others{*silent, worker_of("pi", "arm:2cpu", {})};
  EXPECT_THAT(names_of(choose_fleet_devices({}, with_others)), ElementsAre("class:arm:2cpu"));
  const auto none = choose_fleet_devices({}, std::vector{*silent});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(none.error().message, HasSubstr("hot is out: 61 °C"));
}

}  // namespace
}  // namespace assay
