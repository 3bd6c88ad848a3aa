#include "assay/campaign/launch_paths.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "assay/base/log.h"
#include "assay/base/user_home.h"
#include "assay/campaign/launch.h"
#include "assay/engine/program_places.h"
#include "assay/record/sandbox.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

bool is_executable_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  constexpr auto kExecute = std::filesystem::perms::owner_exec |
                            std::filesystem::perms::group_exec |
                            std::filesystem::perms::others_exec;
  return std::filesystem::is_regular_file(status) &&
         (status.permissions() & kExecute) != std::filesystem::perms::none;
}

/// Adds what a program names: a program with its folder, where its libraries are, and a file alone.
/// The runner that reads damaged places reports them.
void add_places(const std::filesystem::path& entry, LaunchPaths& paths) {
  const auto places = read_program_places(entry);
  if (!places) {
    return;
  }
  for (const auto& [name, place] : *places) {
    if (is_hidden_in_home(place)) {
      paths.closed.push_back(place);
      continue;
    }
    paths.readable.push_back(place);
    if (!is_within(place, entry.parent_path())) {
      paths.places.push_back(place);
    }
    const auto folder = std::filesystem::path(place).parent_path();
    if (is_executable_file(place) && !is_hidden_in_home(folder)) {
      paths.readable.push_back(folder.string());
    }
  }
}

/// A link that whoever made the program can have put there leads nowhere else.
bool belongs_to(const std::filesystem::path& data, const std::filesystem::path& entry) {
  std::error_code error;
  return is_within(data, entry.parent_path()) ||
         is_within(data, std::filesystem::weakly_canonical(entry, error).parent_path()) ||
         is_in_user_cache(data);
}

LaunchPaths boxed_paths(const LaunchRequest& request) {
  return request.sandbox == SandboxMode::kOff ? LaunchPaths()
                                              : paths_of_launch(with_absolute_paths(request));
}

std::string sentence_of_closed(const std::vector<std::string>& closed) {
  return fmt::format(
      "the sandbox keeps closed what the program names in a hidden folder of your home, beside an "
      "access token, in /proc or /dev, or by a link out of its own folder: {}; copy it beside the "
      "program, or run with --sandbox=off",
      fmt::join(closed, ", "));
}

}  // namespace

wire::Load load_of_launch(const LaunchRequest& request) {
  const std::filesystem::path folder(request.artifact.folder);
  wire::Load load{.entry = (folder / request.artifact.entry).string(),
                  .method = request.method,
                  .options = request.options,
                  .libraries = request.libraries};
  for (const auto& file : request.artifact.files) {
    if (file.role == "data") {
      load.data.push_back((folder / file.name).string());
    }
  }
  return load;
}

LaunchPaths paths_of_launch(const LaunchRequest& request) {
  LaunchPaths paths{.readable = request.build.reads, .places = {}, .closed = {}};
  const auto load = load_of_launch(request);
  const std::filesystem::path entry(load.entry);
  auto& readable = paths.readable;
  readable.push_back(request.build.runner);
  readable.push_back(entry.parent_path().string());
  readable.push_back(load.entry);
  for (const auto& data : load.data) {
    (belongs_to(data, entry) ? readable : paths.closed).push_back(data);
  }
  add_places(entry, paths);
  readable.insert(readable.end(), load.libraries.begin(), load.libraries.end());
  if (!request.inputs.file.empty()) {
    readable.push_back(request.inputs.file);
  }
  return paths;
}

void tell_named_paths(const LaunchRequest& request) {
  static std::mutex mutex;
  static std::set<std::string> told;
  if (request.sandbox == SandboxMode::kOff) {
    return;
  }
  const auto paths = boxed_paths(request);
  if (paths.places.empty() && paths.closed.empty()) {
    return;
  }
  const auto program = load_of_launch(request).entry;
  {
    const std::scoped_lock lock(mutex);
    if (!told.insert(program).second) {
      return;
    }
  }
  if (!paths.places.empty()) {
    log_line(LogLevel::kWarning,
             fmt::format("the sandbox opens what {} names: {}", places_file_of(program).string(),
                         fmt::join(paths.places, ", ")));
  }
  if (!paths.closed.empty()) {
    log_line(LogLevel::kWarning, sentence_of_closed(paths.closed));
  }
}

std::string hint_of_closed_paths(const LaunchRequest& request) {
  const auto closed = boxed_paths(request).closed;
  return closed.empty() ? std::string() : sentence_of_closed(closed);
}

}  // namespace assay
