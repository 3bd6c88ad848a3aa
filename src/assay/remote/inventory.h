#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/remote/address.h"
#include "assay/remote/device_gate.h"
#include "assay/remote/device_policy.h"

namespace assay {

/// A device that the user has added.
struct InventoryDevice {
  std::string name;  ///< "pi5", as --device takes it.
  DeviceAddress address;
  std::string device_class;                   ///< Class that its environment had when it was added.
  std::string triple;                         ///< "aarch64-linux-gnu"
  std::string folder;                         ///< Assay's folder there; empty: the default one.
  std::map<std::string, std::string> labels;  ///< Added to every run.
  std::string excluded;                       ///< Why it takes no runs; empty: it does.
  Json own = Json::object();  ///< Its "gate", "policy", "cores" and "meter" as written.

  // In force: its own, and those of its class where it says nothing.
  DeviceGate gate;                 ///< For timed launches.
  std::vector<std::string> meter;  ///< Command here that reads its power meter; empty: none.
  DevicePolicy policy;
  Json policy_document = Json::object();     ///< The policy as it was written.
  std::map<std::string, std::string> cores;  ///< {"big": "4-7"}, in place of what it tells.
};

/// Adds to what a device tells of itself: the policy in force, and its cores by name.
void describe_settings(const InventoryDevice& device, Environment& environment);

/// The devices of a user, in the order in which they were added, and what is common to a class of
/// them: schema assay/devices/1, mode 0600.
class Inventory {
 public:
  /// $XDG_CONFIG_HOME/assay/devices.json, else ~/.config/assay/devices.json.
  static std::filesystem::path default_file();

  /// An empty one where there is no file. Errors: kCorrupt, naming the entry and what is wrong;
  /// kUnsupported for another schema version; kUnavailable.
  static Result<Inventory> read(const std::filesystem::path& file);

  /// Reads the file, changes it and writes it back; processes do so one after another. Errors:
  /// those of read(), of `change` and of write(); kUnavailable.
  static Status update(const std::filesystem::path& file,
                       const std::function<Status(Inventory&)>& change);

  [[nodiscard]] const std::vector<InventoryDevice>& devices() const { return devices_; }

  /// The device of the name; an address of a device that was not added stands for itself. Errors:
  /// kNotFound with did-you-mean; kUnavailable for one that is excluded.
  [[nodiscard]] Result<InventoryDevice> get(const std::string& name) const;

  /// The user's entry of an executor, "executors": {"farm": {…}}. Errors: kNotFound with
  /// did-you-mean.
  [[nodiscard]] Result<Json> get_executor(const std::string& name) const;

  /// Adds a device, or replaces the one of its name. Errors: kInvalidArgument for a name that is no
  /// word or looks like an address.
  Status put(InventoryDevice device);
  /// Like put(), but what the user wrote about a device of that name stays: labels, gate, policy,
  /// cores, meter, and why it takes no runs. Errors: also kInvalidArgument for the address of a
  /// device of another name, as one device has one lock and one folder.
  Status meet(InventoryDevice device);
  /// Errors: kNotFound with did-you-mean.
  Status remove(const std::string& name);
  /// Errors: kUnavailable, kExhausted.
  [[nodiscard]] Status write(const std::filesystem::path& file) const;

 private:
  [[nodiscard]] Error unknown_device(const std::string& name) const;
  /// `file`: for errors, which are those of read().
  static Result<Inventory> from_document(const Json& document, const std::filesystem::path& file);

  std::vector<InventoryDevice> devices_;
  Json classes_ = Json::object();  ///< Keyed by device class, each with "gate", "policy", "cores".
  Json executors_ = Json::object();  ///< Keyed by name; read by module fleet.
};

}  // namespace assay
