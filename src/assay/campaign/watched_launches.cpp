#include "assay/campaign/watched_launches.h"

#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "assay/base/digest.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/launch_order.h"
#include "assay/record/axes.h"
#include "assay/record/subject.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

std::int64_t ns_from_timespec(const timespec& time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return time.tv_sec * kSecond + time.tv_nsec;
}

void mark_changed(std::string change, LaunchYield& yield) {
  yield.launch.outcome = Outcome::kHarnessError;
  yield.launch.stage = Stage::kLoad;
  yield.launch.reason_code = "program_changed";
  yield.launch.text = std::move(change);
}

}  // namespace

std::optional<WatchedLaunches::Stamp> WatchedLaunches::stamp_of_file(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    return std::nullopt;
  }
  return Stamp{.device = status.st_dev,
               .inode = status.st_ino,
               .bytes = status.st_size,
               .modified_ns = ns_from_timespec(status.st_mtim),
               .changed_ns = ns_from_timespec(status.st_ctim)};
}

std::string WatchedLaunches::find_change(const std::string& path, const ArtifactFile& file) {
  const auto stamp = stamp_of_file(path);
  if (!stamp) {
    return fmt::format("'{}' changed while it was measured: it is gone", path);
  }
  const auto known = known_.find(path);
  if (known != known_.end() && known->second == *stamp) {
    return {};
  }
  const auto digest = sha256_hex_of_file(path);
  if (digest && *digest == file.sha256) {
    known_[path] = *stamp;
    return {};
  }
  return fmt::format(
      "'{}' changed while it was measured: its SHA-256 was {} and is {} now; measure it again",
      path, file.sha256.substr(0, 12), digest ? digest->substr(0, 12) : digest.error().message);
}

std::string WatchedLaunches::find_change(const Artifact& artifact) {
  const std::lock_guard lock(mutex_);
  const std::filesystem::path folder(artifact.folder);
  for (const auto& file : artifact.files) {
    if (auto change = find_change((folder / file.name).string(), file); !change.empty()) {
      return change;
    }
  }
  return {};
}

Result<LaunchYield> WatchedLaunches::run(AgentClient& agent, const LaunchOrder& order) {
  if (auto change = find_change(order.artifact); !change.empty()) {
    LaunchYield yield;
    yield.launch.id = make_uuid7();
    mark_changed(std::move(change), yield);
    return yield;
  }
  ASSAY_ASSIGN_OR_RETURN(auto yield, run_launch(agent, order));
  if (auto change = find_change(order.artifact); !change.empty()) {
    mark_changed(std::move(change), yield);
  }
  return yield;
}

}  // namespace assay
