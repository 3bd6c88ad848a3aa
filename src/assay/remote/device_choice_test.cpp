#include "assay/remote/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/remote/address.h"
#include "assay/remote/inventory.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// Two boards and a phone of one kind, and a phone that is excluded.
Inventory lab() {
  Inventory inventory;
  const auto add = [&](const std::string& name, const std::string& device_class,
                       const std::string& excluded) {
    const auto status = inventory.put({.name = name,
                                       .address = address_from_text("ssh:" + name).value(),
                                       .device_class = device_class,
                                       .excluded = excluded});
    EXPECT_TRUE(status.has_value());
  };
  add("pi1", "linux-aarch64:cortex-a76:4cpu", "");
  add("pi2", "linux-aarch64:cortex-a76:4cpu", "");
  add("old", "linux-aarch64:cortex-a72:4cpu", "its fan is broken");
  add("desk", "linux-x86_64:zen:8cpu", "");
  return inventory;
}

std::vector<std::string> names_of(const std::vector<std::string>& asked,
                                  const std::vector<std::string>& excluded = {}) {
  const auto chosen = choose_devices(asked, excluded, lab());
  EXPECT_TRUE(chosen.has_value()) << chosen.error().message;
  return chosen ? chosen->names : std::vector<std::string>();
}

std::string error_of(const std::vector<std::string>& asked,
                     const std::vector<std::string>& excluded = {}) {
  const auto chosen = choose_devices(asked, excluded, lab());
  return chosen ? "chosen" : chosen.error().message;
}

TEST(DeviceChoice, KeepsNamesAndAddresses) {
  EXPECT_THAT(names_of({"local", "ssh:pi9", "pi2"}), ElementsAre("local", "ssh:pi9", "pi2"));
  EXPECT_THAT(names_of({"pi1", "pi1"}), ElementsAre("pi1", "pi1")) << "a mistake to be told";
}

TEST(DeviceChoice, RefusesTwoNamesOfOneDevice) {
  EXPECT_EQ(error_of({"pi1", "ssh:pi1"}),
            "'pi1' and 'ssh:pi1' are one device, ssh:pi1: leave one of them out");
  auto inventory = lab();
  ASSERT_TRUE(inventory.put({.name = "again", .address = address_from_text("ssh:pi1").value()}));
  const std::vector<std::string> all = {"all"};
  const auto chosen = choose_devices(all, {}, inventory);
  ASSERT_FALSE(chosen);
  EXPECT_THAT(chosen.error().message, HasSubstr("'pi1' and 'again' are one device"));
}

TEST(DeviceChoice, TakesAClassOrItsFirstParts) {
  EXPECT_THAT(names_of({"class:linux-aarch64:cortex-a76:4cpu"}), ElementsAre("pi1", "pi2"));
  EXPECT_THAT(names_of({"class:linux-aarch64"}), ElementsAre("pi1", "pi2"));
  EXPECT_THAT(error_of({"class:linux-aarch64:cortex"}),
              HasSubstr("there are class:linux-aarch64:cortex-a72:4cpu, class:"))
      << "half a part is no part";
}

TEST(DeviceChoice, TakesAllOfTheInventoryAndNotThisMachine) {
  EXPECT_THAT(names_of({"all"}), ElementsAre("pi1", "pi2", "desk"));
  EXPECT_THAT(names_of({"all", "local"}), ElementsAre("local", "pi1", "pi2", "desk"));
  EXPECT_THAT(names_of({"class:linux-x86_64", "all", "pi2"}), ElementsAre("pi2", "desk", "pi1"));
}

TEST(DeviceChoice, TellsTheExcludedOnesThatItLeavesOut) {
  const auto chosen = choose_devices(std::vector<std::string>{"all", "class:linux-aarch64"},
                                     std::vector<std::string>{}, lab());
  ASSERT_THAT(chosen->left_out, SizeIs(1));
  EXPECT_EQ(chosen->left_out.front().excluded, "its fan is broken");
  EXPECT_THAT(error_of({"class:linux-aarch64:cortex-a72"}), HasSubstr("its fan is broken"));
}

TEST(DeviceChoice, LeavesOutWhatIsNamed) {
  EXPECT_THAT(names_of({"all", "local"}, {"pi1", "desk"}), ElementsAre("local", "pi2"));
  EXPECT_THAT(error_of({"all"}, {"pi3"}), HasSubstr("no device 'pi3' to exclude; did you mean"));
  EXPECT_THAT(error_of({"pi1"}, {"pi1"}), HasSubstr("no device is left of pi1"));
}

TEST(DeviceChoice, NeedsAnInventoryToChooseFrom) {
  const auto chosen = choose_devices(std::vector<std::string>{"all"}, {}, Inventory());
  ASSERT_FALSE(chosen.has_value());
  EXPECT_EQ(chosen.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(chosen.error().message, HasSubstr("assay device add"));
}

}  // namespace
}  // namespace assay
