#include "assay/campaign/takeover.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

/// A machine of the run, as it was then and as it is now.
struct MachinePair {
  Environment then;
  Environment now;
};

Result<std::vector<MachinePair>> machines_of(const Run& run, ResultStore& store,
                                             const Successor& successor) {
  ASSAY_ASSIGN_OR_RETURN(auto by_device, store.environments_of_run(run.id));
  ASSAY_ASSIGN_OR_RETURN(const auto first, store.environment_of_run(run.id));
  std::vector<MachinePair> pairs;
  for (const auto& [device, now] : successor.machines) {
    const auto found = by_device.find(device);
    pairs.push_back({.then = found == by_device.end() ? first : found->second, .now = now});
  }
  return pairs;
}

/// The names of what two descriptions of one machine say differently; details as "smt".
std::vector<std::string> differing_names(const Environment& then, const Environment& now) {
  std::vector<std::string> names;
  const auto add = [&names](const Json& a, const Json& b) {
    for (const auto& [name, value] : b.items()) {
      if (name != "details" && (!a.contains(name) || a.at(name) != value)) {
        names.push_back(name);
      }
    }
    for (const auto& [name, value] : a.items()) {
      if (!b.contains(name)) {
        names.push_back(name);
      }
    }
  };
  add(Json(then), Json(now));
  if (then.details.is_object() && now.details.is_object()) {
    add(then.details, now.details);
  }
  return names;
}

std::string text_of_machine(const Environment& machine) {
  return fmt::format("({}, kernel {})", machine.cpu_model, machine.kernel);
}

/// The end of the last launch that an open attempt was begun for; absent: none is under way.
std::optional<std::int64_t> find_lease(const std::vector<Attempt>& attempts, std::int64_t now_ns) {
  std::optional<std::int64_t> last;
  for (const auto& attempt : attempts) {
    if (!attempt.is_finished && attempt.lease_until_unix_ns > now_ns) {
      last = std::max(last.value_or(0), attempt.lease_until_unix_ns);
    }
  }
  return last;
}

/// Who may be at work on the run; empty: nobody. Readers claim a run, too, but lease nothing.
Result<std::string> find_worker(const Run& run, ResultStore& store, bool is_other_machine) {
  ASSAY_ASSIGN_OR_RETURN(const auto listings,
                         store.list_runs({.limit = 1, .id = run.id, .has_details = false}));
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run.id));
  const auto lease = find_lease(attempts, unix_time_ns());
  if (!listings.empty() && listings.front().is_in_use && (lease || attempts.empty())) {
    return fmt::format("another process works on run {}", run.id);
  }
  if (lease && is_other_machine) {
    return fmt::format("run {} may still be worked on: a launch of it is due until {}", run.id,
                       iso8601_from_unix_ns(*lease));
  }
  return std::string();
}

}  // namespace

Result<std::vector<std::string>> check_takeover(const Run& run, ResultStore& store,
                                                const Successor& successor) {
  ASSAY_ASSIGN_OR_RETURN(const auto machines, machines_of(run, store, successor));
  std::vector<std::string> differences;
  std::vector<std::string> warnings;
  for (const auto& [then, now] : machines) {
    if (then.id != now.id) {
      differences.push_back(
          fmt::format("run {} was started on a machine {} that differs from this one {}", run.id,
                      text_of_machine(then), text_of_machine(now)));
    } else if (environment_key(then) != environment_key(now)) {
      warnings.push_back(
          fmt::format("the machine of run {} has other settings now than when it began ({}): its "
                      "times are of both",
                      run.id, fmt::join(differing_names(then, now), ", ")));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(auto worker, find_worker(run, store, !differences.empty()));
  if (!successor.is_run_named && !worker.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}; wait for its end, or go on beside it by its name: {} {}", worker,
                            successor.command, run.id));
  }
  if (!successor.is_run_named && !differences.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}; to go on with it here, name it: {} {}", differences.front(),
                            successor.command, run.id));
  }
  for (auto& difference : differences) {
    warnings.push_back(std::move(difference) + ": its times are of both");
  }
  if (!worker.empty()) {
    warnings.push_back(std::move(worker) + "; each launch counts once, whoever makes it first");
  }
  return warnings;
}

}  // namespace assay
