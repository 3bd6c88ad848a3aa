#include "assay/remote/device_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Conditions conditions_at(double celsius, double percent, bool is_charging) {
  Conditions conditions;
  conditions.temperature_celsius = celsius;
  conditions.battery_percent = percent;
  conditions.is_charging = is_charging;
  conditions.load_average_1min = 0.5;
  return conditions;
}

const DeviceGate kGate{
    .below_celsius = 45, .battery_above_percent = 30, .load_below = 1.5, .wait_ns = 1'000'000'000};

TEST(DeviceGate, SaysWhyItIsShut) {
  EXPECT_THAT(reasons_of_closed_gate(kGate, conditions_at(44.9, 31, false)), IsEmpty());
  EXPECT_THAT(reasons_of_closed_gate(kGate, conditions_at(61, 12, false)),
              ElementsAre("61 °C, must be below 45", "battery at 12 %, must be above 30"));
  EXPECT_THAT(reasons_of_closed_gate(kGate, conditions_at(45, 12, true)),
              ElementsAre("45 °C, must be below 45"));
  auto busy = conditions_at(20, 90, false);
  busy.load_average_1min = 2;
  EXPECT_THAT(reasons_of_closed_gate(kGate, busy), ElementsAre("load 2.00, must be below 1.50"));
}

TEST(DeviceGate, IsOpenToADeviceThatTellsNothing) {
  EXPECT_THAT(reasons_of_closed_gate(kGate, Conditions{}), IsEmpty());
  EXPECT_THAT(reasons_of_closed_gate(DeviceGate{}, conditions_at(99, 1, false)), IsEmpty());
}

TEST(DeviceGate, IsReadStrictly) {
  const auto gate = gate_from_json(
      {{"below_celsius", 45}, {"battery_above_percent", 30}, {"load_below", 1.5}, {"wait", "1s"}});
  ASSERT_TRUE(gate.has_value()) << gate.error().message;
  EXPECT_EQ(gate->below_celsius, 45);
  EXPECT_EQ(gate->battery_above_percent, 30);
  EXPECT_EQ(gate->load_below, 1.5);
  EXPECT_EQ(gate->wait_ns, 1'000'000'000);
  EXPECT_TRUE(gate_from_json(Json::object())->is_open_always());
  EXPECT_THAT(gate_from_json({{"below_celcius", 45}}).error().message,
              HasSubstr("did you mean 'below_celsius'?"));
  EXPECT_FALSE(gate_from_json({{"below_celsius", "45"}}).has_value());
}

}  // namespace
}  // namespace assay
