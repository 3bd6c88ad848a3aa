#include <CLI/CLI.hpp>
#include <algorithm>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/job_device.h"
#include "assay/campaign/remote_device.h"
#include "assay/cli/device_flag.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/remote/address.h"
#include "assay/remote/inventory.h"
#include "assay/remote/job_folder.h"
#include "assay/remote/remote_transport.h"

namespace assay::cli {
namespace {

struct DeviceOptions {
  std::string address;
  std::string name;
  std::string folder;
  std::string engine;
  std::string reason;
  std::vector<std::string> files;
  bool is_json = false;
  bool forgets = false;
};

Result<Inventory> read_inventory() { return Inventory::read(Inventory::default_file()); }

std::unique_ptr<RemoteTransport> transport_to(const InventoryDevice& device) {
  return std::make_unique<RemoteTransport>(
      RemoteTransport::Options{.address = device.address, .folder = device.folder});
}

/// Facts that first contact tells, however the device is reached.
struct Contact {
  Environment environment;
  std::string triple;
  std::optional<Conditions> conditions;
  InstalledBuilds installed;
};

Result<Contact> make_contact(const InventoryDevice& entry) {
  if (entry.address.reach == Reach::kFolder) {
    ASSAY_ASSIGN_OR_RETURN(const auto device, JobDevice::open(entry.address.folder));
    return Contact{.environment = device->environment(),
                   .triple = device->triple(),
                   .conditions = {},
                   .installed = device->installed()};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto device, open_remote_device(entry, /*asks_anew=*/true));
  return Contact{.environment = device->environment(),
                 .triple = device->triple(),
                 .conditions = device->conditions(),
                 .installed = device->installed()};
}

/// Host without the user, serial, or last part of the folder: "ssh:me@pi5" -> "pi5".
std::string default_name(const DeviceAddress& address) {
  if (address.reach == Reach::kFolder) {
    return std::filesystem::path(address.folder + "/").parent_path().filename().string();
  }
  const auto& name = address.serial.empty() ? address.host : address.serial;
  auto plain = name.substr(name.find('@') + 1);
  std::ranges::replace(plain, ':', '-');
  return plain;
}

std::string text_of_conditions(const Conditions& conditions) {
  std::string text = conditions.load_average_1min
                         ? fmt::format("load {:.2f}", *conditions.load_average_1min)
                         : "load not told";
  text += fmt::format(", governor {}", conditions.governor.value_or("not told"));
  text += conditions.temperature_celsius
              ? fmt::format(", {:.0f} °C", *conditions.temperature_celsius)
              : ", temperature not told";
  return text;
}

void print_detail(const char* title, const Environment& environment, const char* detail) {
  if (const auto text = text_of_detail(environment, detail); !text.empty()) {
    print_out("  {:<11} {}\n", title, text);
  }
}

/// `explains`: why the engines that are not there are not. On the first contact their names do.
void print_device(const InventoryDevice& entry, const Contact& device, bool explains) {
  auto environment = device.environment;
  describe_settings(entry, environment);
  print_out("{}  {}\n", entry.name, environment.device_class);
  print_out("  machine     {}, {} CPUs, {}\n", environment.cpu_model, environment.cpus,
            text_from_bytes(static_cast<double>(environment.memory_bytes)));
  print_out("  system      {}{}{} ({})\n", environment.os, environment.os.empty() ? "" : ", ",
            environment.kernel, device.triple);
  print_detail("cores", environment, kCoresDetail);
  if (device.conditions) {
    print_out("  conditions  {}\n", text_of_conditions(*device.conditions));
  }
  print_detail("policy", environment, kPolicyDetail);
  for (const auto& build : device.installed.builds) {
    print_out("  engine      {}\n", build.reference());
  }
  const auto& missing = device.installed.missing;
  if (explains) {
    for (const auto& engine : missing) {
      print_out("  not there   {}: {}\n", engine.name, engine.reason);
    }
  } else if (!missing.empty()) {
    std::vector<std::string> names(missing.size());
    std::ranges::transform(missing, names.begin(), &MissingEngine::name);
    print_out("  not there   {} (assay device check {} says why)\n", fmt::join(names, ", "),
              entry.name);
  }
}

/// Writes the facts of first contact into the inventory.
Status remember(InventoryDevice entry, const Contact& device) {
  entry.device_class = device.environment.device_class;
  entry.triple = device.triple;
  return Inventory::update(Inventory::default_file(),
                           [&entry](Inventory& inventory) { return inventory.meet(entry); });
}

Result<ExitCode> execute_add(const DeviceOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto address, address_from_text(options.address));
  const InventoryDevice entry{.name = options.name.empty() ? default_name(address) : options.name,
                              .address = address,
                              .folder = options.folder};
  ASSAY_ASSIGN_OR_RETURN(auto inventory, read_inventory());
  ASSAY_RETURN_IF_ERROR(inventory.meet(entry));
  ASSAY_ASSIGN_OR_RETURN(const auto device, make_contact(entry));
  ASSAY_RETURN_IF_ERROR(remember(entry, device));
  print_device(entry, device, /*explains=*/false);
  print_out("added; try: assay bench MODEL --device {}\n", entry.name);
  return ExitCode::kOk;
}

Json document_of(const Inventory& inventory) {
  Json devices = Json::array();
  for (const auto& device : inventory.devices()) {
    devices.push_back({{"name", device.name},
                       {"reach", device.address.text()},
                       {"class", device.device_class},
                       {"triple", device.triple},
                       {"excluded", device.excluded}});
  }
  return {{"schema", "assay/device-list/1"}, {"devices", std::move(devices)}};
}

Result<ExitCode> execute_list(const DeviceOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto inventory, read_inventory());
  if (options.is_json) {
    print_json(document_of(inventory), 2);
    return ExitCode::kOk;
  }
  if (inventory.devices().empty()) {
    print_out("no device was added; assay device add ssh:HOST or adb:SERIAL\n");
  }
  for (const auto& device : inventory.devices()) {
    print_out("{:<16} {:<28} {}{}\n", device.name, device.address.text(), device.device_class,
              device.excluded.empty() ? "" : "  excluded: " + device.excluded);
  }
  return ExitCode::kOk;
}

/// The device of the name, also one that is excluded.
Result<InventoryDevice> find_device_in(const Inventory& inventory, const std::string& name) {
  const auto found = std::ranges::find(inventory.devices(), name, &InventoryDevice::name);
  return found == inventory.devices().end() ? inventory.get(name) : Result<InventoryDevice>(*found);
}

Result<InventoryDevice> find_device(const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto inventory, read_inventory());
  return find_device_in(inventory, name);
}

Result<ExitCode> execute_check(const DeviceOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto entry, find_device(options.name));
  ASSAY_ASSIGN_OR_RETURN(const auto device, make_contact(entry));
  print_device(entry, device, /*explains=*/true);
  if (entry.name != entry.address.text()) {
    ASSAY_RETURN_IF_ERROR(remember(entry, device));
  }
  return ExitCode::kOk;
}

/// {"argv": a process here that is the runner there, "files": {file here: path there}}.
Result<Json> prepare_program(const DeviceOptions& options, const InventoryDevice& entry,
                             RemoteDevice& device) {
  Json document = {{"schema", "assay/prepared/1"}, {"files", Json::object()}};
  if (!options.engine.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto runner, device.bring_runner(options.engine));
    document["argv"] = transport_to(entry)->argv_of(runner);
  }
  if (!options.files.empty()) {
    const std::vector<std::filesystem::path> files(options.files.begin(), options.files.end());
    ASSAY_ASSIGN_OR_RETURN(const auto folder, device.bring_files(files));
    for (const auto& file : files) {
      document["files"][file.string()] = folder + "/" + file.filename().string();
    }
  }
  return document;
}

Result<ExitCode> execute_prepare(const DeviceOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto entry, find_device(options.name));
  ASSAY_ASSIGN_OR_RETURN(const auto device, open_remote_device(entry));
  if (!options.engine.empty() || !options.files.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto document, prepare_program(options, entry, *device));
    print_json(document, 2);
    return ExitCode::kOk;
  }
  ASSAY_RETURN_IF_ERROR(device->bring_engines());
  print_out("{} has its agent and {} engine builds\n", entry.name,
            device->installed().builds.size());
  return ExitCode::kOk;
}

Result<ExitCode> execute_release(const DeviceOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto entry, find_device(options.name));
  // Nothing is taken from another command of this machine.
  ASSAY_ASSIGN_OR_RETURN(const auto lock, lock_for_launches(entry.address.text()));
  const auto cleared = entry.address.reach == Reach::kFolder
                           ? JobFolder(entry.address.folder).clear()
                           : transport_to(entry)->clear();
  if (!cleared && !options.forgets) {
    return std::unexpected(cleared.error());
  }
  if (options.forgets) {
    ASSAY_RETURN_IF_ERROR(
        Inventory::update(Inventory::default_file(),
                          [&entry](Inventory& inventory) { return inventory.remove(entry.name); }));
  }
  print_out("{}{}{}\n", entry.name,
            cleared ? ": removed all that Assay had there"
                    : ": nothing was removed there: " + cleared.error().message,
            options.forgets ? "; it is no longer in the list" : "");
  return ExitCode::kOk;
}

/// Writes why the device of the list takes no runs; an empty reason: it does.
Status set_excluded(const std::string& name, const std::string& reason) {
  return Inventory::update(Inventory::default_file(), [&](Inventory& inventory) -> Status {
    ASSAY_ASSIGN_OR_RETURN(auto entry, find_device_in(inventory, name));
    if (entry.name == entry.address.text()) {
      return fail(
          ErrorCode::kNotFound,
          fmt::format("'{}' is not in the list; add it first: assay device add {}", name, name));
    }
    entry.excluded = reason;
    return inventory.put(std::move(entry));
  });
}

Result<ExitCode> execute_exclude(const DeviceOptions& options) {
  ASSAY_RETURN_IF_ERROR(set_excluded(options.name, options.reason));
  print_out("{} takes no runs: {}\n", options.name, options.reason);
  return ExitCode::kOk;
}

Result<ExitCode> execute_include(const DeviceOptions& options) {
  ASSAY_RETURN_IF_ERROR(set_excluded(options.name, ""));
  print_out("{} takes runs\n", options.name);
  return ExitCode::kOk;
}

using DeviceVerb = Result<ExitCode> (*)(const DeviceOptions&);

Execute declare_named(CLI::App& app, const char* name, const char* help, DeviceVerb execute) {
  auto options = std::make_shared<DeviceOptions>();
  auto* verb = app.add_subcommand(name, help);
  verb->add_option("name", options->name, "Name of the device, or its address")->required();
  if (execute == execute_prepare) {
    verb->add_option("--engine", options->engine,
                     "Only this engine; print how to start its runner as JSON");
    verb->add_option("--send", options->files, "Files to bring there; print their paths as JSON");
  }
  if (execute == execute_exclude) {
    verb->add_option("--reason", options->reason, "Why, for those who miss it")
        ->required()
        ->check(
            [](const std::string& text) { return std::string(text.empty() ? "it is empty" : ""); });
  }
  if (execute == execute_release) {
    verb->add_flag("--forget", options->forgets,
                   "Remove it from the list too, also if it cannot be reached");
  }
  return [options, execute] { return execute(*options); };
}

Execute declare_add_device(CLI::App& app) {
  auto options = std::make_shared<DeviceOptions>();
  auto* add = app.add_subcommand(
      "add", "Connect to a device for the first time, describe it, and remember it");
  add->add_option("address", options->address,
                  "ssh:HOST, adb:SERIAL, adb:SERIAL@ssh:HOST for a phone at another machine, or "
                  "folder:DIR for a device that takes jobs from a folder")
      ->required();
  add->add_option("--name", options->name,
                  "Name for --device [default: the host, the serial or the folder]");
  add->add_option("--folder", options->folder,
                  "Folder there in which Assay makes its own [default: ~/.cache, on a phone "
                  "/data/local/tmp]");
  return [options] { return execute_add(*options); };
}

Execute declare_list_devices(CLI::App& app) {
  auto options = std::make_shared<DeviceOptions>();
  auto* list = app.add_subcommand("list", "Show the devices that were added");
  list->add_flag("--json", options->is_json, "Print JSON");
  return [options] { return execute_list(*options); };
}

}  // namespace

Execute declare_device(CLI::App& app) {
  app.require_subcommand(1);
  std::vector<std::pair<const char*, Execute>> verbs;
  verbs.emplace_back("add", declare_add_device(app));
  verbs.emplace_back(
      "check",
      declare_named(app, "check", "Connect, describe the device and its engines", execute_check));
  verbs.emplace_back("exclude", declare_named(app, "exclude", "Let a device take no runs for now",
                                              execute_exclude));
  verbs.emplace_back(
      "include",
      declare_named(app, "include", "Let an excluded device take runs again", execute_include));
  verbs.emplace_back("list", declare_list_devices(app));
  verbs.emplace_back("prepare",
                     declare_named(app, "prepare", "Bring the agent and the engines to the device",
                                   execute_prepare));
  verbs.emplace_back(
      "release",
      declare_named(app, "release", "Remove all files of Assay from the device", execute_release));
  return [&app, verbs] {
    const auto named = [&app](const auto& verb) { return app.got_subcommand(verb.first); };
    return std::ranges::find_if(verbs, named)->second();
  };
}

}  // namespace assay::cli
