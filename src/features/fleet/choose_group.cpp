#include "features/fleet/choose_group.h"

#include "features/fleet/fleet_job.h"
#include "features/fleet/fleet_worker.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

constexpr std::string_view kClassPrefix = "class:";

using Workers = std::vector<FleetWorker>;

bool is_well(const FleetWorker& worker) { return worker.state != "out" && worker.state != "gone"; }

/// Those that are well, or all where none is.
Workers working(const Workers& workers) {
  Workers well;
  std::ranges::copy_if(workers, std::back_inserter(well), is_well);
  return well.empty() ? workers : well;
}

bool has_build(const FleetWorker& worker, const EngineBuild& wanted) {
  return std::ranges::any_of(worker.builds, [&](const EngineBuild& build) {
    return build.reference() == wanted.reference() && build.build_id == wanted.build_id;
  });
}

std::vector<EngineBuild> common_builds(const Workers& workers) {
  auto builds = workers.front().builds;
  std::erase_if(builds, [&](const EngineBuild& build) {
    return !std::ranges::all_of(
        workers, [&](const FleetWorker& worker) { return has_build(worker, build); });
  });
  return builds;
}

ChosenDevices chosen_from(const Workers& all, DeviceRequirement requirement,
                          const std::string& name) {
  const auto workers = working(all);
  const auto& first = workers.front();
  return {.requirement = std::move(requirement),
          .planned = {.name = name,
                      .environment = first.environment,
                      .installed = {.builds = common_builds(workers), .missing = {}, .fault = {}},
                      .meter = {}}};
}

ChosenDevices chosen_class(const std::string& device_class, std::span<const FleetWorker> workers) {
  Workers own;
  std::ranges::copy_if(workers, std::back_inserter(own), [&](const FleetWorker& worker) {
    return worker.environment.device_class == device_class;
  });
  return chosen_from(own, {.name = {}, .device_class = device_class},
                     std::string(kClassPrefix) + device_class);
}

std::set<std::string> classes_of(std::span<const FleetWorker> workers, std::string_view first) {
  std::set<std::string> classes;
  for (const auto& worker : workers) {
    const std::string_view own = worker.environment.device_class;
    if (first.empty() || own == first ||
        (own.starts_with(first) && own.substr(first.size()).starts_with(':'))) {
      classes.emplace(own);
    }
  }
  return classes;
}

Result<ChosenDevices> choose_one(const std::string& asked, std::span<const FleetWorker> workers) {
  const auto all = classes_of(workers, "");
  if (asked.starts_with(kClassPrefix)) {
    const auto classes = classes_of(workers, asked.substr(kClassPrefix.size()));
    if (classes.size() > 1) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' stands for several classes, whose times cannot be compared; "
                              "name one: class:{}",
                              asked, fmt::join(classes, ", class:")));
    }
    return classes.empty() ? fail(ErrorCode::kNotFound,
                                  fmt::format("no device of the fleet is of '{}'; there are "
                                              "class:{}",
                                              asked, fmt::join(all, ", class:")))
                           : Result<ChosenDevices>(chosen_class(*classes.begin(), workers));
  }
  const auto found = std::ranges::find(workers, asked, &FleetWorker::device);
  if (found == workers.end()) {
    std::vector<std::string> names;
    std::ranges::transform(workers, std::back_inserter(names), &FleetWorker::device);
    return fail(ErrorCode::kNotFound, fmt::format("the fleet has no device '{}'; there are {}",
                                                  asked, fmt::join(names, ", ")));
  }
  return chosen_from({*found}, {.name = asked, .device_class = found->environment.device_class},
                     asked);
}

/// Those that could be asked what they are.
Result<Workers> described(std::span<const FleetWorker> workers) {
  Workers found;
  std::string reasons;
  for (const auto& worker : workers) {
    if (worker.environment.device_class.empty()) {
      reasons += fmt::format("; {} is out: {}", worker.device, worker.reason);
    } else {
      found.push_back(worker);
    }
  }
  if (found.empty()) {
    return fail(ErrorCode::kUnavailable,
                "no device has described itself to this executor yet; start a worker on its host: "
                "assay work (docs/guide/fleet.md)" +
                    reasons);
  }
  return found;
}

}  // namespace

Result<std::vector<ChosenDevices>> choose_fleet_devices(std::span<const std::string> asked,
                                                        std::span<const FleetWorker> all) {
  ASSAY_ASSIGN_OR_RETURN(const auto workers, described(all));
  std::vector<ChosenDevices> chosen;
  const auto classes = classes_of(workers, "");
  const bool is_all = asked.size() == 1 && asked.front() == "all";
  if (asked.empty() && classes.size() > 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the fleet has several classes; name one with --device class:{}",
                            fmt::join(classes, ", class:")));
  }
  if (asked.empty() || is_all) {
    for (const auto& one : classes) {
      chosen.push_back(chosen_class(one, workers));
    }
    return chosen;
  }
  for (const auto& one : asked) {
    ASSAY_ASSIGN_OR_RETURN(auto devices, choose_one(one, workers));
    chosen.push_back(std::move(devices));
  }
  return chosen;
}

}  // namespace assay
