#include "assay/remote/address.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {
namespace {

constexpr std::string_view kSsh = "ssh:";
constexpr std::string_view kAdb = "adb:";
constexpr std::string_view kFolder = "folder:";
constexpr std::string_view kOverSsh = "@ssh:";

/// Letters and digits of ASCII and a few marks, and no option: what ssh and adb take for a name.
bool is_name(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-:@[]%").contains(c);
  };
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, is_plain);
}

}  // namespace

std::string DeviceAddress::text() const {
  switch (reach) {
    case Reach::kLocal:
      return "local";
    case Reach::kSsh:
      return fmt::format("{}{}", kSsh, host);
    case Reach::kAdb:
      return fmt::format("{}{}{}{}", kAdb, serial, host.empty() ? "" : kOverSsh, host);
    case Reach::kFolder:
      return fmt::format("{}{}", kFolder, folder);
  }
  return {};
}

Result<DeviceAddress> address_from_text(std::string_view text) {
  DeviceAddress address;
  if (text == "local") {
    return address;
  }
  if (text.starts_with(kSsh)) {
    address = {.reach = Reach::kSsh, .host = std::string(text.substr(kSsh.size()))};
    if (is_name(address.host)) {
      return address;
    }
  }
  if (text.starts_with(kAdb)) {
    const auto rest = text.substr(kAdb.size());
    const auto at = rest.find(kOverSsh);
    address = {.reach = Reach::kAdb, .serial = std::string(rest.substr(0, at))};
    if (at != std::string_view::npos) {
      address.host = rest.substr(at + kOverSsh.size());
    }
    if (is_name(address.serial) && (at == std::string_view::npos || is_name(address.host))) {
      return address;
    }
  }
  if (text.starts_with(kFolder) && text.size() > kFolder.size()) {
    const std::filesystem::path folder(text.substr(kFolder.size()));
    return DeviceAddress{.reach = Reach::kFolder,
                         .folder = std::filesystem::absolute(folder).lexically_normal().string()};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is no address of a device; write local, ssh:HOST, adb:SERIAL, "
                          "adb:SERIAL@ssh:HOST or folder:DIR",
                          text));
}

}  // namespace assay
