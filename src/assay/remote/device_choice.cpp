#include "assay/remote/device_choice.h"

#include <algorithm>
#include <expected>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/remote/inventory.h"

namespace assay {
namespace {

constexpr std::string_view kAll = "all";
constexpr std::string_view kClass = "class:";

bool is_selection(std::string_view asked) { return asked == kAll || asked.starts_with(kClass); }

bool is_selected(std::string_view asked, const InventoryDevice& device) {
  if (asked == kAll) {
    return true;
  }
  const std::string_view wanted = asked.substr(kClass.size());
  const std::string_view own = device.device_class;
  return own.starts_with(wanted) && !wanted.empty() &&
         (own.size() == wanted.size() || own[wanted.size()] == ':');
}

std::unexpected<Error> nothing_selected(std::string_view asked, const Inventory& inventory) {
  std::set<std::string> classes;
  for (const auto& device : inventory.devices()) {
    classes.insert(device.device_class);
  }
  return fail(ErrorCode::kNotFound,
              classes.empty()
                  ? fmt::format("'{}' is no device: none was added yet (assay device add)", asked)
                  : fmt::format("no device is of '{}'; there are class:{}", asked,
                                fmt::join(classes, ", class:")));
}

/// Adds what a selection stands for.
Status select(std::string_view asked, std::span<const std::string> excluded,
              const Inventory& inventory, DeviceChoice& choice) {
  bool is_any = false;
  for (const auto& device : inventory.devices()) {
    if (!is_selected(asked, device)) {
      continue;
    }
    is_any = true;
    const bool is_unwanted = std::ranges::find(excluded, device.name) != excluded.end() ||
                             std::ranges::find(choice.names, device.name) != choice.names.end();
    if (!is_unwanted && device.excluded.empty()) {
      choice.names.push_back(device.name);
    } else if (!is_unwanted && std::ranges::find(choice.left_out, device.name,
                                                 &InventoryDevice::name) == choice.left_out.end()) {
      choice.left_out.push_back(device);
    }
  }
  return is_any ? Status() : nothing_selected(asked, inventory);
}

/// A mistyped name would leave the device in.
Status check_excluded(std::span<const std::string> asked, std::span<const std::string> excluded,
                      const Inventory& inventory) {
  std::vector<std::string> known(asked.begin(), asked.end());
  std::ranges::transform(inventory.devices(), std::back_inserter(known), &InventoryDevice::name);
  std::erase_if(known, is_selection);
  for (const auto& name : excluded) {
    if (std::ranges::find(known, name) == known.end()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("no device '{}' to exclude{}", name, suggestion_for(name, known)));
    }
  }
  return {};
}

/// Two names of one device would wait for each other. One name twice is told where it is expanded.
Status check_one_name_each(const std::vector<std::string>& names, const Inventory& inventory) {
  std::map<std::string, std::string> owners;  // Name by address.
  for (const auto& name : names) {
    const auto device = inventory.get(name);
    const auto address = device ? device->address.text() : name;
    const auto& owner = owners.emplace(address, name).first->second;
    if (owner != name) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' and '{}' are one device, {}: leave one of them out", owner,
                              name, address));
    }
  }
  return {};
}

}  // namespace

Result<DeviceChoice> choose_devices(std::span<const std::string> asked,
                                    std::span<const std::string> excluded,
                                    const Inventory& inventory) {
  ASSAY_RETURN_IF_ERROR(check_excluded(asked, excluded, inventory));
  DeviceChoice choice;
  std::ranges::copy_if(asked, std::back_inserter(choice.names), [&](const std::string& name) {
    return !is_selection(name) && std::ranges::find(excluded, name) == excluded.end();
  });
  for (const auto& one : asked) {
    if (is_selection(one)) {
      ASSAY_RETURN_IF_ERROR(select(one, excluded, inventory, choice));
    }
  }
  if (choice.names.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no device is left of {}: {}", fmt::join(asked, ", "),
                            choice.left_out.empty()
                                ? "all were excluded"
                                : fmt::format("'{}' is excluded: {}", choice.left_out.front().name,
                                              choice.left_out.front().excluded)));
  }
  ASSAY_RETURN_IF_ERROR(check_one_name_each(choice.names, inventory));
  return choice;
}

}  // namespace assay
