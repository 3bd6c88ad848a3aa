#include "assay/remote/inventory.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/remote/address.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

InventoryDevice device_of(const std::string& name) {
  return {.name = name,
          .address = {.reach = Reach::kSsh, .host = name + ".lab"},
          .device_class = "linux-aarch64:cortex-a76:4cpu",
          .triple = "aarch64-linux-gnu",
          .labels = {{"rack", "2"}},
          .own = {{"gate", {{"below_celsius", 45}, {"wait", "2min"}}},
                  {"meter", {{"command", {"read-meter", "--port", "3"}}}}}};
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
  EXPECT_EQ(device.own["gate"]["wait"], "2min") << "as it was written";
  EXPECT_EQ(device.meter, (std::vector<std::string>{"read-meter", "--port", "3"}));
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

TEST(Inventory, KeepsWhatTheUserWroteWhenADeviceIsAddedAgain) {
  Inventory inventory;
  InventoryDevice device{.name = "pi5", .address = address_from_text("ssh:old").value()};
  device.labels = {{"lab", "3"}};
  device.excluded = "on loan";
  device.own = {{"gate", {{"load_below", 1.0}}}};
  ASSERT_TRUE(inventory.put(device));
  ASSERT_TRUE(inventory.meet({.name = "pi5",
                              .address = address_from_text("ssh:new").value(),
                              .device_class = "linux-aarch64:x:4cpu"}));
  ASSERT_THAT(inventory.devices(), SizeIs(1));
  const auto& kept = inventory.devices().front();
  EXPECT_EQ(kept.address.text(), "ssh:new");
  EXPECT_EQ(kept.device_class, "linux-aarch64:x:4cpu");
  EXPECT_EQ(kept.labels, device.labels);
  EXPECT_EQ(kept.excluded, "on loan");
  EXPECT_EQ(kept.own, device.own);
}

TEST(Inventory, KnowsADeviceByOneNameOnly) {
  Inventory inventory;
  const auto address = address_from_text("ssh:board").value();
  ASSERT_TRUE(inventory.meet({.name = "board", .address = address}));
  const auto second = inventory.meet({.name = "pi5", .address = address});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(second.error().message, HasSubstr("ssh:board is device 'board' already"));
  EXPECT_TRUE(inventory.meet({.name = "board", .address = address})) << "met again";
  EXPECT_TRUE(
      inventory.meet({.name = "board", .address = address_from_text("ssh:board.lan").value()}))
      << "it has moved";
  EXPECT_TRUE(inventory.meet({.name = "pi5", .address = address})) << "the address is free again";
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

struct InventoryText : InventoryFile {
  Result<Inventory> read(const std::string& text) const {
    EXPECT_TRUE(write_file_atomically(file, text).has_value());
    return Inventory::read(file);
  }
};

TEST(Inventory, TakesFromTheClassWhereTheDeviceSaysNothing) {
  const InventoryText place;
  const auto inventory = place.read(R"({"schema": "assay/devices/1",
      "classes": {"linux:a": {"gate": {"below_celsius": 50, "wait": "1min"},
                              "policy": {"frequency": "max", "reboot": {"before_run": true}},
                              "cores": {"big": "4-7"}}},
      "devices": [{"name": "a", "reach": "ssh:a", "class": "linux:a"},
                  {"name": "b", "reach": "ssh:b", "class": "linux:a",
                   "gate": {"below_celsius": 40},
                   "policy": {"frequency": "leave", "reboot": {"wait": "1min"}}},
                  {"name": "c", "reach": "ssh:c", "class": "linux:other"}]})");
  ASSERT_TRUE(inventory.has_value()) << inventory.error().message;
  const auto plain = inventory->get("a").value();
  EXPECT_EQ(plain.policy.frequency, "max");
  EXPECT_EQ(plain.gate.below_celsius, 50);
  EXPECT_EQ(plain.cores.at("big"), "4-7");
  const auto with_own = inventory->get("b").value();
  EXPECT_EQ(with_own.policy.frequency, "leave");
  EXPECT_TRUE(with_own.policy.reboot.before_run);
  EXPECT_EQ(with_own.policy.reboot.wait_ns, 60'000'000'000);
  EXPECT_EQ(with_own.gate.below_celsius, 40);
  EXPECT_EQ(with_own.gate.wait_ns, 60'000'000'000);
  EXPECT_EQ(inventory->get("c")->policy.frequency, "leave");

  ASSERT_TRUE(inventory->write(place.file).has_value());
  const auto document = read_json_file(place.file).value();
  EXPECT_EQ(document["classes"]["linux:a"]["policy"]["frequency"], "max");
  EXPECT_FALSE(document["devices"][0].contains("policy")) << "the class's is not made its own";
}

TEST(Inventory, RefusesUnknownKeysWithTheNearestOne) {
  const InventoryText place;
  const auto told = [&place](const std::string& entry) {
    return place.read(R"({"schema": "assay/devices/1", )" + entry + "}").error().message;
  };
  EXPECT_THAT(told(R"("devices": [{"name": "a", "reach": "ssh:a", "polcy": {}}])"),
              HasSubstr("device 1: device: unknown key 'polcy'; did you mean 'policy'?"));
  EXPECT_THAT(told(R"("classes": {"x": {"policy": {"keep_awak": true}}})"),
              HasSubstr("class 'x': policy: unknown key 'keep_awak'; did you mean 'keep_awake'?"));
  EXPECT_THAT(told(R"("classes": {"x": {"cores": {"big": "4-"}}})"),
              HasSubstr("cores: big: '4-' is not a list of processors"));
  EXPECT_THAT(told(R"("device": [])"), HasSubstr("did you mean 'devices'?"));
}

TEST(Inventory, SaysWhereAValueOfTheWrongTypeIs) {
  const InventoryText place;
  const auto told = [&place](const std::string& entry) {
    const auto read = place.read("{" + entry + "}");
    EXPECT_FALSE(read) << entry;
    return read ? "" : read.error().message;
  };
  const auto with_schema = [&](const std::string& entry) {
    return told(R"("schema": "assay/devices/1", )" + entry);
  };
  EXPECT_THAT(with_schema(R"("classes": {"x": {"meter": {"command": "prog"}}})"),
              HasSubstr("class 'x': meter: command: it must be a list of texts"));
  EXPECT_THAT(with_schema(R"("classes": {"x": {"gate": {"below_celsius": "hot"}}})"),
              HasSubstr("class 'x': gate: 'below_celsius' has the wrong type"));
  EXPECT_THAT(with_schema(R"("classes": [])"), HasSubstr("classes: it must be an object"));
  EXPECT_THAT(with_schema(R"("executors": 1)"), HasSubstr("executors: it must be an object"));
  EXPECT_THAT(with_schema(R"("devices": {})"), HasSubstr("devices: it must be a list"));
  EXPECT_THAT(with_schema(R"("devices": [{"name": 1, "reach": "ssh:a"}])"), HasSubstr("device 1"));
  EXPECT_THAT(told(R"("schema": 1)"), HasSubstr("has schema 1; this build reads assay/devices/1"));
}

TEST(Inventory, IsChangedByOneProcessAfterAnother) {
  const InventoryFile place;
  const auto add = [&place](int number) {
    return Inventory::update(place.file, [number](Inventory& inventory) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return inventory.put(
          {.name = fmt::format("d{}", number), .address = {.reach = Reach::kSsh, .host = "h"}});
    });
  };
  std::vector<std::jthread> adding;
  for (int i = 0; i < 12; ++i) {
    adding.emplace_back([&add, i] { EXPECT_TRUE(add(i)); });
  }
  adding.clear();
  EXPECT_EQ(Inventory::read(place.file)->devices().size(), 12U);
}

TEST(Inventory, SaysWhyItCannotBeChanged) {
  const InventoryFile place;
  ASSERT_TRUE(write_file_atomically(place.folder.path() / "file", "no folder"));
  const auto file = place.folder.path() / "file" / "devices.json";
  const auto updated = Inventory::update(file, [](Inventory&) { return Status(); });
  ASSERT_FALSE(updated);
  EXPECT_THAT(updated.error().message, HasSubstr("Not a directory"));
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
