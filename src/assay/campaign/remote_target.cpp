#include "assay/campaign/remote_target.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/digest.h"
#include "assay/base/enum_names.h"
#include "assay/base/error_code_names.h"  // IWYU pragma: keep
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/base/units.h"
#include "assay/base/user_home.h"
#include "assay/base/uuid.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_conditions.h"
#include "assay/campaign/metered_spawn.h"
#include "assay/campaign/remote_wrapper.h"
#include "assay/engine/description.h"
#include "assay/engine/program_places.h"
#include "assay/record/artifact_role.h"
#include "assay/record/axes.h"
#include "assay/record/conclusion.h"
#include "assay/record/spawn.h"
#include "assay/record/subject.h"
#include "assay/remote/device_bundle.h"
#include "assay/remote/device_gate.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

bool is_executable(const std::filesystem::path& file) {
  std::error_code error;
  const auto owner = std::filesystem::status(file, error).permissions();
  return (owner & std::filesystem::perms::owner_exec) != std::filesystem::perms::none;
}

/// The bundle's command line with the paths of its tree there.
std::vector<std::string> argv_in(const DeviceBundle& bundle, const std::string& tree) {
  std::vector<std::string> argv;
  for (const auto& word : bundle.argv) {
    const bool is_place = std::ranges::any_of(bundle.files, [&word](const BundleFile& file) {
      return file.path == word || file.path.starts_with(word + "/");
    });
    argv.push_back(is_place ? fmt::format("{}/{}", tree, word) : word);
  }
  return argv;
}

/// All that was there for other launches is gone, so a smaller program may have room.
Conclusion larger_than_device(const Error& error) {
  return {.outcome = outcome_from_error(error.code, Stage::kPush),
          .stage = Stage::kPush,
          .reason_code = std::string(name_of(error.code)),
          .text = "what this case needs on the device does not fit there: " + error.message};
}

}  // namespace

RemoteTarget::RemoteTarget(AgentClient agent, const EngineBundles& bundles, Options options)
    : agent_(std::move(agent)), bundles_(bundles), options_(std::move(options)) {}

/// An agent that nobody asks ends after ten minutes.
Status RemoteTarget::cool_down() {
  constexpr std::chrono::milliseconds kBetween{100};
  constexpr std::int64_t kAskNs = 240'000'000'000;
  const auto pause_ns = options_.policy.cool_down_ns;
  auto asked_ns = monotonic_ns();
  while (timed_until_ns_ && monotonic_ns() - *timed_until_ns_ < pause_ns) {
    if (!options_.keep_waiting()) {
      return fail(ErrorCode::kTimeout, "stopped while a device cooled down");
    }
    std::this_thread::sleep_for(kBetween);
    if (monotonic_ns() - asked_ns >= kAskNs) {
      [[maybe_unused]] const auto conditions = agent_.conditions();
      asked_ns = monotonic_ns();
    }
  }
  return {};
}

Result<std::string> RemoteTarget::wait_for_gate() {
  constexpr std::chrono::seconds kBetween{2};
  const auto& gate = options_.gate;
  const auto start_ns = monotonic_ns();
  while (!gate.is_open_always()) {
    ASSAY_ASSIGN_OR_RETURN(const auto conditions, agent_.conditions());
    const auto reasons = reasons_of_closed_gate(gate, conditions);
    if (reasons.empty()) {
      break;
    }
    if (!options_.keep_waiting()) {
      return fail(ErrorCode::kTimeout, "stopped while a device's gate was waited for");
    }
    if (monotonic_ns() - start_ns >= gate.wait_ns) {
      return fmt::format("the device was not ready within {}: {}",
                         text_from_duration_ns(static_cast<double>(gate.wait_ns)),
                         fmt::join(reasons, "; "));
    }
    std::this_thread::sleep_for(kBetween);
  }
  return std::string();
}

Result<LaunchResult> RemoteTarget::run(const LaunchRequest& request) {
  auto there = bring(request);
  if (!there && there.error().code == ErrorCode::kExhausted) {
    // Files of earlier launches are no longer in use, and go where there is no room.
    constexpr auto kKeepAll = std::numeric_limits<std::int64_t>::max();
    if (const auto removed = agent_.prune(kKeepAll); !removed) {
      return std::unexpected(removed.error());
    }
    there = bring(request);
    if (!there && there.error().code == ErrorCode::kExhausted && has_room_for_runner(request) &&
        has_any_room()) {
      return failed_launch(larger_than_device(there.error()));
    }
  }
  if (!there) {
    // A disk that fails says nothing about the case.
    const auto code = there.error().code;
    is_broken_ = code == ErrorCode::kUnavailable || code == ErrorCode::kCorrupt;
    return std::unexpected(there.error());
  }
  const bool is_timed = request.pass == Pass::kTiming;
  if (is_timed) {
    ASSAY_RETURN_IF_ERROR(cool_down());
    ASSAY_ASSIGN_OR_RETURN(const auto reason, wait_for_gate());
    if (!reason.empty()) {
      return failed_launch({.outcome = Outcome::kSkipped,
                            .stage = Stage::kStart,
                            .reason_code = kDeviceNotReady,
                            .text = reason});
    }
  }
  auto result = run_there(request, *std::move(there));
  if (is_timed) {
    timed_until_ns_ = monotonic_ns();
  }
  return result;
}

Result<LaunchResult> RemoteTarget::run_there(const LaunchRequest& request, LaunchRequest there) {
  std::optional<RemoteWrapper> wrapper;
  if (!request.prefix.empty()) {
    ASSAY_ASSIGN_OR_RETURN(wrapper, RemoteWrapper::place(agent_, request));
    there.prefix.insert(there.prefix.begin(), wrapper->argv().begin(), wrapper->argv().end());
    there.writable = {wrapper->folder()};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto result,
                         spawn_with_meter(agent_, spawn_from_launch(there), request.meter));
  if (wrapper) {
    ASSAY_RETURN_IF_ERROR(wrapper->fetch(agent_, request.writable.front()));
  }
  return result_from_answer(result, request);
}

bool RemoteTarget::is_alive() { return !is_broken_ && agent_.conditions().has_value(); }

Result<LaunchRequest> RemoteTarget::bring(const LaunchRequest& request) {
  auto there = request;
  ASSAY_RETURN_IF_ERROR(bring_runner(request, there));
  ASSAY_RETURN_IF_ERROR(bring_program(request, there));
  ASSAY_RETURN_IF_ERROR(bring_companions(request, there));
  for (auto& library : there.libraries) {
    ASSAY_ASSIGN_OR_RETURN(library, bring_file(library));
  }
  if (!request.inputs.file.empty()) {
    ASSAY_ASSIGN_OR_RETURN(there.inputs.file, bring_file(request.inputs.file));
  }
  there.writable.clear();
  return there;
}

Status RemoteTarget::bring_runner(const LaunchRequest& request, LaunchRequest& there) {
  const auto bundle = bundles_.find(request.build.reference());
  if (bundle == bundles_.end()) {
    return fail(ErrorCode::kUnsupported, fmt::format("engine '{}' has no build for device '{}'",
                                                     request.build.reference(), agent_.device()));
  }
  ASSAY_ASSIGN_OR_RETURN(auto runner, push_runner(agent_, bundle->second));
  there.build.runner = std::move(runner.argv.back());
  runner.argv.pop_back();
  there.prefix = std::move(runner.argv);  // The loader is what wraps the runner.
  there.build.reads = {runner.folder};
  return {};
}

bool RemoteTarget::has_room_for_runner(const LaunchRequest& request) {
  auto there = request;
  return bring_runner(request, there).has_value();
}

/// The runner may have been there before the disk was full. A new file, as others are there.
bool RemoteTarget::has_any_room() {
  constexpr std::size_t kBytes = 1 << 16;
  auto content = make_uuid7();
  content.resize(kBytes, ' ');
  const auto folder = scratch();
  const auto file = folder ? *folder / "room" : std::filesystem::path();
  return folder && write_file_atomically(file, content) && bring_file(file).has_value();
}

Status RemoteTarget::bring_program(const LaunchRequest& request, LaunchRequest& there) {
  const std::filesystem::path folder(request.artifact.folder);
  std::vector<TreeSource> sources;
  sources.reserve(request.artifact.files.size());
  for (const auto& file : request.artifact.files) {
    if (file.role == kNamedRole) {
      continue;
    }
    const auto path = folder / file.name;
    ASSAY_ASSIGN_OR_RETURN(auto digest,
                           file.sha256.empty() ? digests_.digest_of(path) : file.sha256);
    sources.push_back({.path = file.name, .file = path, .sha256 = std::move(digest)});
  }
  ASSAY_ASSIGN_OR_RETURN(const auto places, bring_places(request, there));
  sources.insert(sources.end(), places.begin(), places.end());
  ASSAY_ASSIGN_OR_RETURN(there.artifact.folder, agent_.push_tree(sources));
  auto& cached = there.surroundings.files;
  for (auto& path : cached) {
    path = (std::filesystem::path(there.artifact.folder) /
            std::filesystem::path(path).lexically_relative(folder))
               .string();
  }
  return {};
}

Result<std::vector<TreeSource>> RemoteTarget::bring_places(const LaunchRequest& request,
                                                           LaunchRequest& there) {
  const auto entry = std::filesystem::path(request.artifact.folder) / request.artifact.entry;
  ASSAY_ASSIGN_OR_RETURN(const auto places, read_program_places(entry));
  if (places.empty()) {
    return std::vector<TreeSource>();
  }
  auto moved = Json::object();
  for (const auto& [name, place] : places) {
    if (is_hidden_in_home(place)) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{} names {}, in a hidden folder of your home, beside an access token, "
                      "or in /proc or /dev, which no device gets; copy it elsewhere",
                      places_file_of(entry).string(), place));
    }
    ASSAY_ASSIGN_OR_RETURN(auto path, bring_file(place));
    there.build.reads.push_back(path);
    moved[name] = std::move(path);
  }
  const auto text = moved.dump();
  auto digest = sha256_hex(text);
  ASSAY_ASSIGN_OR_RETURN(auto file, scratch());
  file /= digest + ".places.json";
  ASSAY_RETURN_IF_ERROR(write_file_atomically(file, text));
  return std::vector<TreeSource>{{.path = places_file_of(request.artifact.entry).string(),
                                  .file = file,
                                  .sha256 = std::move(digest)}};
}

Status RemoteTarget::bring_companions(const LaunchRequest& request, LaunchRequest& there) {
  auto& companions = there.surroundings.companions;
  std::erase_if(companions, [](const Companion& one) { return !one.input_file.empty(); });
  for (const auto& neighbor : request.beside) {
    ASSAY_ASSIGN_OR_RETURN(const auto placed, bring(neighbor));
    ASSAY_ASSIGN_OR_RETURN(const auto folder, scratch());
    ASSAY_ASSIGN_OR_RETURN(auto companion, companion_from_launch(placed, folder));
    ASSAY_ASSIGN_OR_RETURN(companion.input_file, bring_file(companion.input_file));
    companions.push_back(std::move(companion));
  }
  return {};
}

Result<std::filesystem::path> RemoteTarget::scratch() {
  if (!scratch_) {
    ASSAY_ASSIGN_OR_RETURN(scratch_, TemporaryFolder::make("assay-device"));
  }
  return scratch_->path();
}

Result<std::string> RemoteTarget::bring_file(const std::filesystem::path& file) {
  ASSAY_ASSIGN_OR_RETURN(auto digest, digests_.digest_of(file));
  const auto name = file.filename().string();
  const TreeSource source{.path = name,
                          .file = file,
                          .sha256 = std::move(digest),
                          .is_executable = is_executable(file)};
  ASSAY_ASSIGN_OR_RETURN(const auto tree, agent_.push_tree({source}));
  return tree + "/" + name;
}

Result<PlacedRunner> push_runner(AgentClient& agent, const DeviceBundle& bundle) {
  std::vector<TreeSource> sources;
  sources.reserve(bundle.files.size());
  for (const auto& file : bundle.files) {
    sources.push_back({.path = file.path,
                       .file = file.source,
                       .sha256 = file.sha256,
                       .is_executable = file.is_executable});
  }
  ASSAY_ASSIGN_OR_RETURN(auto folder, agent.push_tree(sources));
  auto argv = argv_in(bundle, folder);
  return PlacedRunner{.argv = std::move(argv), .folder = std::move(folder)};
}

Result<EngineBuild> describe_on_device(AgentClient& agent, const DeviceBundle& bundle) {
  constexpr std::int64_t kLimitNs = 60'000'000'000;
  ASSAY_ASSIGN_OR_RETURN(auto placed, push_runner(agent, bundle));
  auto& argv = placed.argv;
  const auto runner = argv.back();
  argv.emplace_back("--describe");
  ASSAY_ASSIGN_OR_RETURN(const auto result,
                         agent.spawn({.argv = argv, .limits = {.wall_ns = kLimitNs}}));
  const std::string_view output(reinterpret_cast<const char*>(result.output.data()),
                                result.output.size());
  auto details = parse_json(output, runner);
  if (result.end.exit_code != 0 || !details) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("its runner does not start on device '{}': {}", agent.device(),
                            printable(result.end.last_words)));
  }
  return build_from_description(runner, *std::move(details));
}

}  // namespace assay
