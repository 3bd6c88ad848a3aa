#include "assay/remote/inventory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/types.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/limits.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/config/config_file.h"
#include "assay/record/run.h"
#include "assay/record/scenario.h"
#include "assay/remote/address.h"
#include "assay/remote/device_gate.h"
#include "assay/remote/device_policy.h"
#include "assay/remote/strict_keys.h"

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

/// Keys of a device and of a class that say how it is measured.
constexpr std::array<const char*, 4> kSettings = {"gate", "policy", "cores", "meter"};

Json json_of(const InventoryDevice& device) {
  Json entry = {{"name", device.name},          {"reach", device.address.text()},
                {"class", device.device_class}, {"triple", device.triple},
                {"folder", device.folder},      {"labels", device.labels},
                {"excluded", device.excluded}};
  entry.update(device.own);
  return entry;
}

Json settings_in(const Json& entry) {
  Json settings = Json::object();
  for (const auto* key : kSettings) {
    if (const auto found = entry.find(key); found != entry.end()) {
      settings[key] = *found;
    }
  }
  return settings;
}

Result<std::map<std::string, std::string>> cores_from_json(const Json& document) {
  ASSAY_RETURN_IF_ERROR(check_keys(document, "cores", {"big", "mid", "little"}));
  for (const auto& [name, cores] : document.items()) {
    const auto list = cores.is_string() ? cores_from_text(cores.get<std::string>())
                                        : fail(ErrorCode::kInvalidArgument, "it must be text");
    if (!list) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("cores: {}: {}", name, list.error().message));
    }
  }
  return document.get<std::map<std::string, std::string>>();
}

/// {"command": ["PROGRAM", "ARGUMENT"]}
Result<std::vector<std::string>> meter_from_json(const Json& document) {
  ASSAY_RETURN_IF_ERROR(check_keys(document, "meter", {"command"}));
  const auto command = document.value("command", Json::array());
  const auto is_text = [](const Json& word) { return word.is_string(); };
  if (!command.is_array() || !std::ranges::all_of(command, is_text)) {
    return fail(ErrorCode::kInvalidArgument,
                "meter: command: it must be a list of texts, the program and its arguments");
  }
  return command.get<std::vector<std::string>>();
}

/// Puts settings in force.
Status apply_settings(const Json& settings, InventoryDevice& device) {
  ASSAY_ASSIGN_OR_RETURN(device.gate, gate_from_json(settings.value("gate", Json::object())));
  device.policy_document = settings.value("policy", Json::object());
  ASSAY_ASSIGN_OR_RETURN(device.policy, policy_from_json(device.policy_document));
  ASSAY_ASSIGN_OR_RETURN(device.meter, meter_from_json(settings.value("meter", Json::object())));
  ASSAY_ASSIGN_OR_RETURN(device.cores, cores_from_json(settings.value("cores", Json::object())));
  return {};
}

Status check_class(const std::string& name, const Json& settings) {
  ASSAY_RETURN_IF_ERROR(check_keys(settings, "class", {"gate", "policy", "cores", "meter"}));
  try {
    InventoryDevice device{.name = name};
    return apply_settings(settings, device);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

Result<InventoryDevice> device_from_json(const Json& entry, const Json& classes) {
  ASSAY_RETURN_IF_ERROR(check_keys(entry, "device",
                                   {"name", "reach", "class", "triple", "folder", "labels", "gate",
                                    "policy", "cores", "meter", "excluded"}));
  try {
    InventoryDevice device{.name = entry.at("name").get<std::string>(),
                           .device_class = entry.value("class", ""),
                           .triple = entry.value("triple", ""),
                           .folder = entry.value("folder", ""),
                           .labels = entry.value("labels", std::map<std::string, std::string>()),
                           .excluded = entry.value("excluded", ""),
                           .own = settings_in(entry)};
    ASSAY_ASSIGN_OR_RETURN(device.address, address_from_text(entry.at("reach").get<std::string>()));
    ASSAY_RETURN_IF_ERROR(apply_settings(device.own, device));  // Names its own faults.
    auto settings = classes.value(device.device_class, Json::object());
    settings.merge_patch(device.own);
    ASSAY_RETURN_IF_ERROR(apply_settings(settings, device));
    return device;
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

/// An error about a part of the file.
std::unexpected<Error> damaged(const std::filesystem::path& file, const std::string& part,
                               const Error& error) {
  return fail(ErrorCode::kCorrupt,
              fmt::format("'{}', {}: {}; mend the file, or remove it and add the devices again",
                          file.string(), part, error.message));
}

}  // namespace

void describe_settings(const InventoryDevice& device, Environment& environment) {
  if (!device.policy_document.empty()) {
    environment.details[kPolicyDetail] = device.policy_document;
  }
  for (const auto& [name, cores] : device.cores) {
    environment.details[kCoresDetail][name] = cores;
  }
}

std::filesystem::path Inventory::default_file() {
  const auto config = user_config_file();
  return config.empty() ? config : config.parent_path() / "devices.json";
}

Result<Inventory> Inventory::read(const std::filesystem::path& file) {
  const auto document = read_json_file(file);
  if (!document) {
    return document.error().code == ErrorCode::kNotFound ? Result<Inventory>(Inventory())
                                                         : std::unexpected(document.error());
  }
  const auto schema = document->is_object() ? document->value("schema", Json()) : Json();
  if (schema != kSchema) {
    return fail(ErrorCode::kUnsupported, fmt::format("'{}' has schema {}; this build reads {}",
                                                     file.string(), schema.dump(), kSchema));
  }
  return from_document(*document, file);
}

Result<Inventory> Inventory::from_document(const Json& document,
                                           const std::filesystem::path& file) {
  Inventory inventory;
  if (const auto known =
          check_keys(document, "inventory", {"schema", "devices", "classes", "executors"});
      !known) {
    return damaged(file, "top level", known.error());
  }
  inventory.classes_ = document.value("classes", Json::object());
  inventory.executors_ = document.value("executors", Json::object());
  for (const auto& [name, value] :
       {std::pair("classes", &inventory.classes_), std::pair("executors", &inventory.executors_)}) {
    if (!value->is_object()) {
      return damaged(file, name, {.code = ErrorCode::kCorrupt, .message = "it must be an object"});
    }
  }
  for (const auto& [name, settings] : inventory.classes_.items()) {
    if (const auto checked = check_class(name, settings); !checked) {
      return damaged(file, fmt::format("class '{}'", name), checked.error());
    }
  }
  const auto devices = document.value("devices", Json::array());
  if (!devices.is_array()) {
    return damaged(file, "devices", {.code = ErrorCode::kCorrupt, .message = "it must be a list"});
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    auto device = device_from_json(devices.at(i), inventory.classes_);
    if (!device) {
      return damaged(file, fmt::format("device {}", i + 1), device.error());
    }
    inventory.devices_.push_back(*std::move(device));
  }
  return inventory;
}

Status Inventory::update(const std::filesystem::path& file,
                         const std::function<Status(Inventory&)>& change) {
  const auto lock_file = file.string() + ".lock";
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  constexpr mode_t kOwnerOnly = 0600;
  // The file stays: removing it would let two processes lock two files of one name.
  const FileDescriptor lock(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly));
  bool is_locked = false;
  do {  // The failure to open it is told as it is.
    is_locked = lock.is_open() && ::flock(lock.get(), LOCK_EX) == 0;
  } while (lock.is_open() && !is_locked && errno == EINTR);
  if (!is_locked) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot lock '{}': {}", lock_file, text_from_errno(errno)));
  }
  ASSAY_ASSIGN_OR_RETURN(auto inventory, read(file));
  ASSAY_RETURN_IF_ERROR(change(inventory));
  return inventory.write(file);
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
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("device '{}' is excluded: {}; assay device include {} takes it in again", name,
                    found->excluded, name));
  }
  return *found;
}

Result<Json> Inventory::get_executor(const std::string& name) const {
  if (const auto found = executors_.find(name); found != executors_.end()) {
    return *found;
  }
  std::vector<std::string> names;
  for (const auto& [known, entry] : executors_.items()) {
    names.push_back(known);
  }
  return fail(ErrorCode::kNotFound,
              names.empty() ? fmt::format("no executor '{}': \"executors\" of {} has none", name,
                                          default_file().string())
                            : fmt::format("no executor '{}'{}", name, suggestion_for(name, names)));
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

Status Inventory::meet(InventoryDevice device) {
  const auto found = std::ranges::find(devices_, device.name, &InventoryDevice::name);
  const auto address = device.address.text();
  const auto has_address = [&address](const InventoryDevice& one) {
    return one.address.text() == address;
  };
  const auto owner = std::ranges::find_if(devices_, has_address);
  const bool is_new_there = found == devices_.end() || !has_address(*found);
  if (is_new_there && owner != devices_.end()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is device '{}' already, and a device has one name; to rename it, "
                            "remove that name first: assay device release {} --forget",
                            address, owner->name, owner->name));
  }
  if (found != devices_.end()) {
    device.labels = found->labels;
    device.excluded = found->excluded;
    device.own = found->own;
  }
  return put(std::move(device));
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
  Json document{{"schema", kSchema}, {"devices", std::move(devices)}};
  if (!classes_.empty()) {
    document["classes"] = classes_;
  }
  if (!executors_.empty()) {
    document["executors"] = executors_;
  }
  return write_file_atomically(file, document.dump(2) + "\n", kOwnerOnly);
}

}  // namespace assay
