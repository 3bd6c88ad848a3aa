#include "assay/remote/inventory.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/config/config_file.h"
#include "assay/remote/address.h"
#include "assay/remote/device_gate.h"

namespace assay {
namespace {

constexpr const char* kSchema = "assay/devices/1";

bool is_device_name(const std::string& name) {
  return !name.empty() && name.front() != '-' && name != "local" && name != "all" &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

Json json_of(const InventoryDevice& device) {
  return {{"name", device.name},
          {"reach", device.address.text()},
          {"class", device.device_class},
          {"triple", device.triple},
          {"folder", device.folder},
          {"labels", device.labels},
          {"gate", json_from_gate(device.gate)},
          {"excluded", device.excluded}};
}

Result<InventoryDevice> device_from_json(const Json& entry) {
  try {
    InventoryDevice device{.name = entry.at("name").get<std::string>(),
                           .device_class = entry.value("class", ""),
                           .triple = entry.value("triple", ""),
                           .folder = entry.value("folder", ""),
                           .labels = entry.value("labels", std::map<std::string, std::string>()),
                           .excluded = entry.value("excluded", "")};
    ASSAY_ASSIGN_OR_RETURN(device.gate, gate_from_json(entry.value("gate", Json::object())));
    ASSAY_ASSIGN_OR_RETURN(device.address, address_from_text(entry.at("reach").get<std::string>()));
    return device;
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

}  // namespace

std::filesystem::path Inventory::default_file() {
  const auto config = user_config_file();
  return config.empty() ? config : config.parent_path() / "devices.json";
}

Result<Inventory> Inventory::read(const std::filesystem::path& file) {
  Inventory inventory;
  const auto document = read_json_file(file);
  if (!document) {
    return document.error().code == ErrorCode::kNotFound ? Result<Inventory>(inventory)
                                                         : std::unexpected(document.error());
  }
  const auto schema = document->is_object() ? document->value("schema", "") : "";
  if (schema != kSchema) {
    return fail(ErrorCode::kUnsupported, fmt::format("'{}' has schema '{}'; this build reads {}",
                                                     file.string(), schema, kSchema));
  }
  const auto devices = document->value("devices", Json::array());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    auto device = device_from_json(devices.at(i));
    if (!device) {
      return fail(ErrorCode::kCorrupt, fmt::format("'{}', device {}: {}; mend the file, or remove "
                                                   "it and add the devices again",
                                                   file.string(), i + 1, device.error().message));
    }
    inventory.devices_.push_back(*std::move(device));
  }
  return inventory;
}

Result<InventoryDevice> Inventory::get(const std::string& name) const {
  const auto found = std::ranges::find(devices_, name, &InventoryDevice::name);
  if (found == devices_.end()) {
    if (const auto address = address_from_text(name)) {
      return InventoryDevice{.name = name, .address = *address};
    }
    return std::unexpected(unknown_device(name));
  }
  if (!found->excluded.empty()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("device '{}' is excluded: {}; assay device check {} tries it again",
                            name, found->excluded, name));
  }
  return *found;
}

Error Inventory::unknown_device(const std::string& name) const {
  std::vector<std::string> names;
  std::ranges::transform(devices_, std::back_inserter(names), &InventoryDevice::name);
  return {
      .code = ErrorCode::kNotFound,
      .message = names.empty()
                     ? fmt::format("no device '{}': none was added yet (assay device add)", name)
                     : fmt::format("no device '{}'{}", name, suggestion_for(name, names))};
}

Status Inventory::put(InventoryDevice device) {
  if (!is_device_name(device.name)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no name for a device; write letters, digits, '-', '_' and '.'",
                            device.name));
  }
  const auto found = std::ranges::find(devices_, device.name, &InventoryDevice::name);
  if (found == devices_.end()) {
    devices_.push_back(std::move(device));
  } else {
    *found = std::move(device);
  }
  return {};
}

Status Inventory::remove(const std::string& name) {
  const auto removed =
      std::erase_if(devices_, [&](const InventoryDevice& device) { return device.name == name; });
  return removed > 0 ? Status() : std::unexpected(unknown_device(name));
}

Status Inventory::write(const std::filesystem::path& file) const {
  Json devices = Json::array();
  std::ranges::transform(devices_, std::back_inserter(devices), json_of);
  constexpr unsigned kOwnerOnly = 0600;
  return write_file_atomically(
      file, Json{{"schema", kSchema}, {"devices", std::move(devices)}}.dump(2) + "\n", kOwnerOnly);
}

}  // namespace assay
