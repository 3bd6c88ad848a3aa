#include "assay/campaign/device_engines.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/file_digests.h"
#include "assay/base/folders.h"
#include "assay/base/result.h"
#include "assay/device/environment.h"
#include "assay/engine/installed_builds.h"
#include "assay/engine/known_engines.h"
#include "assay/record/subject.h"
#include "assay/remote/device_bundle.h"
#include "assay/remote/device_programs.h"

namespace assay {
namespace {

void add_bundle(const std::string& name, const std::string& label,
                const std::filesystem::path& folder, const std::string& triple,
                FileDigests& digests, DeviceEngines& found) {
  auto bundle = read_bundle(folder, digests);
  if (!bundle) {
    found.missing.push_back({label.empty() ? name : name + "@" + label, bundle.error().message});
  } else if (bundle->triple == triple) {
    found.engines.push_back(
        {.name = name, .label = label, .bundle = *std::move(bundle), .build = {}});
  }
}

void add_own_runners(const std::filesystem::path& home, FileDigests& digests,
                     DeviceEngines& found) {
  auto installed = find_installed_builds(home);
  std::erase_if(installed.missing,
                [](const MissingEngine& engine) { return is_known_in_python(engine.name); });
  std::ranges::move(installed.missing, std::back_inserter(found.missing));
  for (auto& build : installed.builds) {
    const auto* known = find_known_engine(build.name);
    auto bundle = bundle_of_program(
        build.runner, known == nullptr ? std::vector<std::string>() : known->loads, digests);
    if (bundle) {
      found.engines.push_back({.name = build.name,
                               .label = build.label,
                               .bundle = *std::move(bundle),
                               .build = std::move(build)});
    } else if (!is_known_in_python(build.name)) {
      found.missing.push_back({build.name, bundle.error().message});
    }
  }
}

std::string reason_of_device_absence(const KnownEngine& engine, const std::string& triple) {
  if (!engine.not_on_devices.empty()) {
    return engine.not_on_devices;
  }
  if (engine.package.empty()) {
    return fmt::format("Assay builds its runner for this machine's processor only, not for {}",
                       triple);
  }
  return fmt::format("not built for {0}: {1}assay engine add {2}@NAME --prefix WHEEL --triple {0}",
                     triple, triple == "aarch64-linux-gnu" ? "make aarch64, or " : "", engine.name);
}

/// Gives each engine that comes with Assay and is in no list the reason why.
void explain_absence(const std::string& triple, DeviceEngines& found) {
  for (const auto& engine : known_engines()) {
    const auto is_it = [&engine](const auto& one) { return one.name == engine.name; };
    if (std::ranges::none_of(found.engines, is_it) && std::ranges::none_of(found.missing, is_it)) {
      found.missing.push_back({engine.name, reason_of_device_absence(engine, triple)});
    }
  }
}

}  // namespace

DeviceEngines find_device_engines(const std::filesystem::path& home, const std::string& triple) {
  DeviceEngines found;
  FileDigests digests(home / "engines" / "file-digests.json");
  for (const auto& build : registered_builds(home)) {
    if (const auto folder = build.details.find(kBundleKey); folder != build.details.end()) {
      add_bundle(build.name, build.label, folder->get<std::string>(), triple, digests, found);
    }
  }
  auto folders = folders_in(device_folder(triple) / "bundle");
  std::ranges::sort(folders);
  for (const auto& folder : folders) {
    add_bundle(folder.filename().string(), "", folder, triple, digests, found);
  }
  if (triple == triple_of_machine(read_system_facts().machine)) {
    add_own_runners(home, digests, found);
  }
  explain_absence(triple, found);
  // They are computed again where they cannot be kept.
  [[maybe_unused]] const auto status = digests.write();
  return found;
}

}  // namespace assay
