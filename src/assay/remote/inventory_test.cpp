#include "assay/remote/inventory.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/remote/address.h"

namespace assay {
namespace {

InventoryDevice device_of(const std::string& name) {
  return {.name = name,
          .address = {.reach = Reach::kSsh, .host = name + ".lab"},
          .device_class = "linux-aarch64:cortex-a76:4cpu",
          .triple = "aarch64-linux-gnu",
          .labels = {{"rack", "2"}},
          .gate = {.below_celsius = 45}};
}

struct InventoryFile {
  TemporaryFolder folder = TemporaryFolder::make("assay-test").value();
  std::filesystem::path file = folder.path() / "assay" / "devices.json";
};

TEST(Inventory, KeepsDevicesInAFileOfTheirOwner) {
  const InventoryFile place;
  Inventory inventory = Inventory::read(place.file).value();
  EXPECT_TRUE(inventory.devices().empty());
  ASSERT_TRUE(inventory.put(device_of("pi5")).has_value());
  ASSERT_TRUE(inventory.put(device_of("pi4")).has_value());
  ASSERT_TRUE(inventory.write(place.file).has_value());
  EXPECT_EQ(std::filesystem::status(place.file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);

  const auto again = Inventory::read(place.file).value();
  ASSERT_EQ(again.devices().size(), 2U);
  const auto device = again.get("pi5").value();
  EXPECT_EQ(device.address.text(), "ssh:pi5.lab");
  EXPECT_EQ(device.triple, "aarch64-linux-gnu");
  EXPECT_EQ(device.labels.at("rack"), "2");
  EXPECT_EQ(device.gate.below_celsius, 45);
}

TEST(Inventory, ReplacesAndRemovesByName) {
  Inventory inventory;
  ASSERT_TRUE(inventory.put(device_of("pi5")).has_value());
  auto moved = device_of("pi5");
  moved.address.host = "other";
  moved.excluded = "its fan is broken";
  ASSERT_TRUE(inventory.put(moved).has_value());
  ASSERT_EQ(inventory.devices().size(), 1U);
  const auto excluded = inventory.get("pi5");
  ASSERT_FALSE(excluded.has_value());
  EXPECT_TRUE(excluded.error().message.contains("its fan is broken"));
  EXPECT_TRUE(inventory.remove("pi5").has_value()) << "an excluded one, too";
  EXPECT_FALSE(inventory.remove("pi5").has_value());
}

TEST(Inventory, NamesTheNearestDeviceAndTakesAddresses) {
  Inventory inventory;
  EXPECT_TRUE(inventory.get("pi5").error().message.contains("assay device add"));
  ASSERT_TRUE(inventory.put(device_of("pixel7")).has_value());
  EXPECT_TRUE(inventory.get("pixle7").error().message.contains("did you mean 'pixel7'?"));
  EXPECT_EQ(inventory.get("ssh:board").value().address.host, "board");
  for (const std::string name : {"", "-x", "all", "local", "ssh:x", "a b"}) {
    EXPECT_FALSE(inventory.put(device_of(name)).has_value()) << name;
  }
}

TEST(Inventory, SaysWhichEntryIsDamaged) {
  const InventoryFile place;
  const auto write = [&place](const std::string& text) {
    ASSERT_TRUE(write_file_atomically(place.file, text).has_value());
  };
  write(R"({"schema": "assay/devices/1", "devices": [{"name": "a", "reach": "ssh:a"},
                                                     {"name": "b", "reach": "-oProxyCommand=x"}]})");
  const auto damaged = Inventory::read(place.file);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_TRUE(damaged.error().message.contains("device 2")) << damaged.error().message;
  write(R"({"schema": "assay/devices/2"})");
  EXPECT_EQ(Inventory::read(place.file).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace assay
