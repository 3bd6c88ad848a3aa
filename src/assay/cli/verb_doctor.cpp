#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/artifact/toolchain.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/device_flag.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/places.h"
#include "assay/cli/verb.h"
#include "assay/config/config_file.h"
#include "assay/device/conditions.h"
#include "assay/device/environment.h"
#include "assay/device/local_transport.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/remote/device_choice.h"
#include "assay/store/store_address.h"
#include "assay/supervise/agent_client.h"

namespace assay::cli {
namespace {

struct DoctorOptions {
  std::string device;
  StoreFlags store;
  ToolchainFlags toolchain;
};

/// Prints one line and remembers whether anything that Assay needs is missing.
class Checklist {
 public:
  void tell(bool is_good, std::string_view what, std::string_view text) {
    print_out("{} {:<12} {}\n", is_good ? "ok  " : "MISS", what, text);
    is_complete_ = is_complete_ && is_good;
  }
  static void note(std::string_view what, std::string_view text) {
    print_out("     {:<12} {}\n", what, text);
  }
  [[nodiscard]] bool is_complete() const { return is_complete_; }

 private:
  bool is_complete_ = true;
};

void tell_machine(const Environment& environment, const Conditions& conditions) {
  Checklist::note("machine",
                  fmt::format("{}, {} CPUs, {} ({})", environment.cpu_model, environment.cpus,
                              text_from_bytes(static_cast<double>(environment.memory_bytes)),
                              environment.device_class));
  Checklist::note("cpu flags", fmt::format("{}", fmt::join(environment.cpu_flags, " ")));
  Checklist::note("conditions",
                  fmt::format("load {}, governor {}, temperature {}",
                              conditions.load_average_1min
                                  ? fmt::format("{:.2f}", *conditions.load_average_1min)
                                  : "not told",
                              conditions.governor.value_or("not told"),
                              conditions.temperature_celsius
                                  ? fmt::format("{:.0f} °C", *conditions.temperature_celsius)
                                  : "not told"));
}

/// `is_here`: the runners lie on this machine, and the reader may look at them.
void check_engines(const InstalledBuilds& installed, bool is_here, Checklist& list) {
  for (const auto& build : installed.builds) {
    list.tell(true, "engine",
              is_here ? fmt::format("{}  {}", build.reference(), build.runner) : build.reference());
    const bool is_of_tests = build.name == "fake";  // One of its backends exists to be missing.
    const Json backends =
        is_of_tests ? Json::array() : build.details.value("backends", Json::array());
    for (const auto& backend : backends) {
      const bool is_available = backend.value("is_available", false);
      Checklist::note(
          "", fmt::format(
                  "backend {}: {}", backend.value("name", ""),
                  is_available ? "available" : "not available: " + backend.value("reason", "")));
    }
  }
  // One engine is enough to work with; for the others it says how to get them.
  const bool has_engine = std::ranges::any_of(installed.builds, [](const EngineBuild& build) {
    return build.name != "fake" && build.name != "command";
  });
  for (const auto& missing : installed.missing) {
    const auto text = missing.name + ": " + missing.reason;
    if (has_engine) {
      Checklist::note("engine", "not here: " + text);
    } else {
      list.tell(false, "engine", text);
    }
  }
}

void check_toolchain(const DoctorOptions& options, Checklist& list) {
  const auto python = default_python(options.toolchain.python);
  const auto toolchain = query_toolchain(python);
  if (!toolchain) {
    list.tell(false, "toolchain", toolchain.error().message);
    return;
  }
  list.tell(true, "toolchain", toolchain->python.string());
  for (const auto& [name, version] : toolchain->packages) {
    Checklist::note("", fmt::format("{} {}", name, version.empty() ? "not installed" : version));
  }
  for (const auto& own : own_toolchains()) {
    const auto path = find_own_python(own.name, python);
    Checklist::note("toolchain", path.empty()
                                     ? fmt::format("{}: not here: {}", own.name, own.how_to_get)
                                     : fmt::format("{}: {}", own.name, path.string()));
  }
}

void check_agent(Checklist& list) {
  LocalTransport transport;
  const auto agent = AgentClient::connect(transport);
  list.tell(agent.has_value(), "agent", agent ? "answers on this machine" : agent.error().message);
}

/// Lists where everything is kept; a store is opened only if there is one.
void check_places(const DoctorOptions& options, Checklist& list) {
  Checklist::note("home",
                  fmt::format("{} (ASSAY_HOME or `assay init --set home=FOLDER` chooses another)",
                              assay_home().string()));
  Checklist::note("config", text_from_place(user_config_file()));
  for (const auto& place : known_places(options.store)) {
    std::error_code error;
    const bool is_made_store =
        place.path == options.store.address() &&
        (is_database_url(options.store.address()) || std::filesystem::exists(place.path, error));
    if (!is_made_store) {
      Checklist::note(place.name, text_from_place(place.path));
      continue;
    }
    const auto store = options.store.open_to_read();
    list.tell(store.has_value(), place.name,
              store ? text_from_place(place.path) : store.error().message);
  }
  Checklist::note("",
                  "docs/reference/files.md describes these places; `assay cache prune` and `assay "
                  "runs prune` free space");
}

/// Reads what is on a device; programs are made on this machine, whose toolchain is no part of it.
Result<ExitCode> check_device(const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto device, open_remote_device(name));
  Checklist list;
  tell_machine(device->environment(), device->conditions());
  list.tell(true, "agent", fmt::format("answers on device '{}' ({})", name, device->triple()));
  check_engines(device->installed(), /*is_here=*/false, list);
  return list.is_complete() ? ExitCode::kOk : ExitCode::kUnavailable;
}

Result<ExitCode> execute_doctor(const DoctorOptions& options) {
  if (!options.device.empty() && options.device != kLocalDevice) {
    return check_device(options.device);
  }
  Checklist list;
  tell_machine(read_environment(), read_conditions());
  check_agent(list);
  check_engines(find_installed_builds(assay_home(), Descriptions::kAskedAnew), /*is_here=*/true,
                list);
  check_toolchain(options, list);
  check_places(options, list);
  return list.is_complete() ? ExitCode::kOk : ExitCode::kUnavailable;
}

}  // namespace

Execute declare_doctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  declare_device_name(app, options->device);
  options->store.declare(app);
  options->toolchain.declare(app);
  return [options] { return execute_doctor(*options); };
}

}  // namespace assay::cli
