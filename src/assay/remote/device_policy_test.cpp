#include "assay/remote/device_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/frequency_target.h"

namespace assay {
namespace {

using testing::HasSubstr;

TEST(DevicePolicy, LeavesADeviceAsItIsByDefault) {
  const auto policy = policy_from_json(Json::object()).value();
  EXPECT_EQ(policy.frequency, "leave");
  EXPECT_FALSE(policy.keeps_awake);
  EXPECT_FALSE(policy.reboot.before_run);
  EXPECT_EQ(policy.wipe, Wipe::kNever);
  EXPECT_EQ(policy.cool_down_ns, 0);
  EXPECT_EQ(policy.return_wait_ns, 60'000'000'000);
}

TEST(DevicePolicy, IsReadFromItsDocument) {
  const auto policy = policy_from_json(
      {{"frequency", "1.8GHz"},
       {"keep_awake", true},
       {"reboot", {{"before_run", true}, {"at_most_every", "6h"}, {"wait", "5min"}}},
       {"wipe", "after_run"},
       {"cool_down", "30s"},
       {"return_wait", "3min"}});
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->frequency, "1.8GHz");
  EXPECT_TRUE(policy->keeps_awake);
  EXPECT_TRUE(policy->reboot.before_run);
  EXPECT_EQ(policy->reboot.at_most_every_ns, 6 * 3'600'000'000'000);
  EXPECT_EQ(policy->reboot.wait_ns, 300'000'000'000);
  EXPECT_EQ(policy->wipe, Wipe::kAfterRun);
  EXPECT_EQ(policy->cool_down_ns, 30'000'000'000);
  EXPECT_EQ(policy->return_wait_ns, 180'000'000'000);
}

TEST(DevicePolicy, NamesTheWrongKey) {
  const auto told = [](const Json& document) { return policy_from_json(document).error().message; };
  EXPECT_THAT(told({{"frequencies", "max"}}), HasSubstr("did you mean 'frequency'?"));
  EXPECT_THAT(told({{"reboot", {{"every", "6h"}}}}), HasSubstr("policy.reboot: unknown key"));
  EXPECT_THAT(told({{"frequency", "fast"}}), HasSubstr("'fast' is no frequency"));
  EXPECT_THAT(told({{"frequency", 1.8}}), HasSubstr("frequency must be text"));
  EXPECT_THAT(told({{"keep_awake", "yes"}}), HasSubstr("keep_awake must be true or false"));
  EXPECT_THAT(told({{"wipe", true}}), HasSubstr("wipe must be"));
  EXPECT_THAT(told({{"cool_down", "30"}}), HasSubstr("cool_down must be a duration"));
  EXPECT_THAT(told({{"return_wait", 5}}), HasSubstr("return_wait must be a duration"));
  EXPECT_THAT(told({{"reboot", true}}), HasSubstr("policy.reboot must be an object"));
}

TEST(FrequencyTarget, TakesNamesAndValuesWithAUnit) {
  EXPECT_EQ(frequency_target_from_text("max")->kind, FrequencyTarget::Kind::kMax);
  EXPECT_EQ(frequency_target_from_text("1.8GHz")->khz, 1'800'000);
  EXPECT_EQ(frequency_target_from_text("998.4 MHz")->khz, 998'400);
  EXPECT_EQ(frequency_target_from_text("300000kHz")->khz, 300'000);
  for (const auto* text : {"", "1.8", "1.8 THz", "-1GHz", "0GHz", "GHz", "1.8GHz ", "1e99GHz"}) {
    EXPECT_FALSE(frequency_target_from_text(text).has_value()) << text;
  }
  EXPECT_EQ(text_from_khz(2'841'600), "2.8416 GHz");
  EXPECT_EQ(text_from_khz(998'400), "998.4 MHz");
}

}  // namespace
}  // namespace assay
