#include "assay/campaign/device_engines.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/folders.h"
#include "assay/base/result.h"
#include "assay/device/environment.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"
#include "assay/remote/device_bundle.h"
#include "assay/remote/device_programs.h"

namespace assay {
namespace {

void add_bundle(const std::string& name, const std::string& label,
                const std::filesystem::path& folder, const std::string& triple,
                DeviceEngines& found) {
  auto bundle = read_bundle(folder);
  if (!bundle) {
    found.missing.push_back({name, bundle.error().message});
  } else if (bundle->triple == triple) {
    found.engines.push_back({.label = label, .bundle = *std::move(bundle), .build = {}});
  }
}

void add_own_runners(const std::filesystem::path& home, DeviceEngines& found) {
  auto installed = find_installed_builds(home);
  std::ranges::move(installed.missing, std::back_inserter(found.missing));
  for (auto& build : installed.builds) {
    auto bundle = bundle_of_program(build.runner);
    if (bundle) {
      found.engines.push_back(
          {.label = build.label, .bundle = *std::move(bundle), .build = std::move(build)});
    } else {
      found.missing.push_back({build.name, bundle.error().message});
    }
  }
}

}  // namespace

DeviceEngines find_device_engines(const std::filesystem::path& home, const std::string& triple) {
  DeviceEngines found;
  for (const auto& build : registered_builds(home)) {
    if (const auto folder = build.details.find(kBundleKey); folder != build.details.end()) {
      add_bundle(build.reference(), build.label, folder->get<std::string>(), triple, found);
    }
  }
  auto folders = folders_in(device_folder(triple) / "bundle");
  std::ranges::sort(folders);
  for (const auto& folder : folders) {
    add_bundle(folder.filename().string(), "", folder, triple, found);
  }
  if (triple == triple_of_machine(read_system_facts().machine)) {
    add_own_runners(home, found);
  }
  return found;
}

}  // namespace assay
