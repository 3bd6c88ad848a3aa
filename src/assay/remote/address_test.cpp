#include "assay/remote/address.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/result.h"

namespace assay {
namespace {

TEST(DeviceAddress, ReadsItsOwnText) {
  for (const std::string text : {"local", "ssh:pi5", "ssh:me@board.example.org", "adb:R58M12ABCDE",
                                 "adb:10.0.0.7:5555", "adb:R58M12ABCDE@ssh:lab3"}) {
    const auto address = address_from_text(text);
    ASSERT_TRUE(address.has_value()) << text;
    EXPECT_EQ(address->text(), text);
  }
  EXPECT_EQ(address_from_text("adb:S@ssh:lab3")->host, "lab3");
  EXPECT_EQ(address_from_text("adb:S@ssh:lab3")->serial, "S");
}

TEST(DeviceAddress, TakesAFolderFromWhereverItIsNamed) {
  const auto here = std::filesystem::current_path() / "farm";
  EXPECT_EQ(address_from_text("folder:farm")->text(), "folder:" + here.string());
  EXPECT_EQ(address_from_text("folder:/srv/a farm")->folder, "/srv/a farm");
  EXPECT_FALSE(address_from_text("folder:"));
}

TEST(DeviceAddress, RefusesWhatAShellOrAnOptionParserCouldTakeForMore) {
  for (const std::string text :
       {"", "pi5", "ssh:", "ssh:-oProxyCommand=id", "ssh:a b", "ssh:$(id)", "adb:", "adb:-s",
        "adb:S;reboot", "adb:S@ssh:", "adb:S@ssh:-x", "adb:S@ssh:a`id`", "usb:1"}) {
    const auto address = address_from_text(text);
    ASSERT_FALSE(address.has_value()) << text;
    EXPECT_EQ(address.error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(address.error().message.contains("adb:SERIAL@ssh:HOST"));
  }
}

}  // namespace
}  // namespace assay
