#include "assay/engine/installed_builds.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/claims.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/limits.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/engine/description.h"
#include "assay/engine/known_engines.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

constexpr std::string_view kRunnerPrefix = "assay-runner-";
constexpr std::string_view kRegistryName = "engines.json";
constexpr auto kAtOnceIfPossible = std::launch::async | std::launch::deferred;

std::filesystem::path registry_file(const std::filesystem::path& home) {
  return engines_folder(home) / kRegistryName;
}

struct Registry {
  std::vector<EngineBuild> builds;
  std::vector<MissingEngine> damaged;  ///< Entries that cannot be read, or the file.

  [[nodiscard]] std::optional<Error> fault() const {
    return damaged.empty() ? std::nullopt
                           : std::optional(Error{ErrorCode::kCorrupt, damaged.front().reason});
  }
};

std::string text_of_damage(const std::filesystem::path& file, std::string_view what) {
  return fmt::format(
      "'{}' is damaged ({}); repair it, or delete it and register the engines again (assay engine "
      "add)",
      file.string(), what);
}

/// "executorch@mine", as far as the entry tells.
std::string reference_in(const Json& entry, std::size_t index) {
  const auto text = [&entry](const char* key) {
    const auto found = entry.is_object() ? entry.find(key) : entry.end();
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  return text("name").empty() ? fmt::format("engines.json, entry {}", index + 1)
                              : fmt::format("{}@{}", text("name"), text("label"));
}

Result<EngineBuild> build_from_entry(const Json& entry) {
  try {
    auto build = entry.get<EngineBuild>();
    if (build.name.empty() || build.runner.empty()) {
      return fail(ErrorCode::kCorrupt, "an entry has no \"name\" or no \"runner\"");
    }
    return build;
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
}

Registry read_registry(const std::filesystem::path& home) {
  const auto file = registry_file(home);
  const auto document = read_json_file(file);
  Registry registry;
  if (!document && document.error().code == ErrorCode::kNotFound) {
    return registry;
  }
  if (!document || !document->is_object() || !document->contains("builds")) {
    registry.damaged.push_back(
        {std::string(kRegistryName),
         text_of_damage(file, document ? "it has no \"builds\"" : document.error().message)});
    return registry;
  }
  std::size_t index = 0;
  for (const auto& [ignored, entry] : document->at("builds").items()) {
    auto build = build_from_entry(entry);
    if (build) {
      registry.builds.push_back(*std::move(build));
    } else {
      registry.damaged.push_back(
          {reference_in(entry, index), text_of_damage(file, build.error().message)});
    }
    ++index;
  }
  return registry;
}

/// Errors: kCorrupt where the file is damaged: writing it anew would lose what can still be mended.
Result<std::vector<EngineBuild>> builds_to_rewrite(const std::filesystem::path& home) {
  auto registry = read_registry(home);
  if (auto fault = registry.fault()) {
    return std::unexpected(*std::move(fault));
  }
  return std::move(registry.builds);
}

/// Whoever changes the registry reads it, and writes it anew: one after the other. Ends with the
/// object.
Result<Claims> take_registry(const std::filesystem::path& home) {
  ASSAY_ASSIGN_OR_RETURN(auto claims, Claims::open(engines_folder(home) / "engines.lock"));
  constexpr std::chrono::milliseconds kPoll(10);
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours, claims.try_take(kRegistryName));
    if (is_ours) {
      return claims;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

Status write_registry(const std::filesystem::path& home, const std::vector<EngineBuild>& builds) {
  return write_file_atomically(
      registry_file(home), Json{{"schema", "assay/engines/1"}, {"builds", builds}}.dump(2) + "\n");
}

/// A runner that may be usable. `label`: empty for those next to the running executable.
struct Candidate {
  std::filesystem::path runner;
  std::string name;
  std::string label;
  std::vector<std::string> reads = {};  ///< Folders that the runner named when it was added.
};

std::size_t rank_of(const std::string& name) {
  const auto known = known_engines();
  return static_cast<std::size_t>(std::ranges::find(known, name, &KnownEngine::name) -
                                  known.begin());
}

/// Errors: kExhausted, kUnavailable when the folder cannot be listed.
Result<std::vector<Candidate>> runners_beside(const std::filesystem::path& folder) {
  std::vector<Candidate> candidates;
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  if (error) {
    return fail(code_from_errno(error.value()), fmt::format("cannot list '{}': {}", folder.string(),
                                                            text_from_errno(error.value())));
  }
  for (const auto& entry : entries) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(kRunnerPrefix)) {
      candidates.push_back({entry.path(), name.substr(kRunnerPrefix.size()), ""});
    }
  }
  std::ranges::sort(candidates, {}, [](const Candidate& candidate) {
    return std::pair(rank_of(candidate.name), candidate.name);
  });
  return candidates;
}

constexpr const char* kNoHost =
    "this build can run no engine in Python: it lacks assay._host, which needs nanobind and the "
    "headers of the interpreter; install these where the build looks for them, then make build";

/// Names the missing part of a known engine. The runners of those in Python come all or none: where
/// none is next to the executable, what they share was not made.
std::string reason_of_absence(const KnownEngine& engine, const std::vector<Candidate>& candidates) {
  const bool has_host = std::ranges::any_of(candidates, [](const Candidate& candidate) {
    return candidate.label.empty() && is_known_in_python(candidate.name);
  });
  return engine.is_in_python && !has_host ? kNoHost : engine.how_to_get;
}

/// Keeps the error of one runner that is a fault of the search. A limit of the system outweighs a
/// death, as it tells of all runners.
void note_fault(const Error& error, InstalledBuilds& installed) {
  const bool is_death = error.code == ErrorCode::kCrashed && !installed.fault;
  if (is_death || error.code == ErrorCode::kExhausted) {
    installed.fault = error;
  }
}

/// Says how to get the libraries that a runner does not find; the loader, or Python, only names one
/// of them.
std::string reason_of_failure(const std::string& name, const Error& error) {
  const auto known = known_engines();
  const auto engine = std::ranges::find(known, name, &KnownEngine::name);
  const bool lacks_library = error.message.contains("error while loading shared libraries") ||
                             error.message.contains("No module named");
  if (!lacks_library || engine == known.end() || engine->how_to_install.empty()) {
    return error.message;
  }
  return fmt::format("its libraries are not installed: {} ({})", engine->how_to_install,
                     error.message);
}

void add_described(const Candidate& candidate, Result<EngineBuild> build,
                   InstalledBuilds& installed) {
  const auto& [runner, name, label, reads] = candidate;
  if (!build) {
    note_fault(build.error(), installed);
    installed.missing.push_back(
        {label.empty() ? name : name + "@" + label, reason_of_failure(name, build.error())});
    return;
  }
  if (!label.empty()) {
    build->label = label;
  }
  installed.builds.push_back(std::move(*build));
}

auto find_build(const std::vector<EngineBuild>& builds, const std::string& reference) {
  return std::ranges::find_if(builds, [&reference](const EngineBuild& build) {
    return build.reference() == reference || build.name == reference;
  });
}

}  // namespace

std::filesystem::path engines_folder(const std::filesystem::path& home) { return home / "engines"; }

InstalledBuilds find_installed_builds(const std::filesystem::path& home, Descriptions descriptions,
                                      SandboxMode sandbox) {
  InstalledBuilds installed;
  const auto registry = read_registry(home);
  installed.missing = registry.damaged;
  installed.fault = registry.fault();
  auto beside = runners_beside(executable_folder());
  if (!beside) {
    installed.fault = beside.error();
  }
  auto candidates = beside.value_or(std::vector<Candidate>());
  for (const auto& build : registry.builds) {
    if (!build.details.contains(kBundleKey)) {
      candidates.push_back({build.runner, build.name, build.label, build.reads});
    }
  }
  const DescriptionCache cache(engines_folder(home) / "described");
  const auto describe = [&](const Candidate& candidate) {
    const auto mode = candidate.label.empty() ? SandboxMode::kOff : sandbox;
    return descriptions == Descriptions::kKept
               ? cache.describe(candidate.runner, mode, candidate.reads)
               : describe_runner(candidate.runner, mode, candidate.reads);
  };
  // All at the same time: an engine in Python takes as long as its interpreter does. One after the
  // other where the system has no further thread.
  std::vector<std::future<Result<EngineBuild>>> described;
  described.reserve(candidates.size());
  for (const auto& candidate : candidates) {
    described.push_back(std::async(kAtOnceIfPossible, describe, std::cref(candidate)));
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    add_described(candidates[i], described[i].get(), installed);
  }
  for (const auto& known : known_engines()) {
    const auto is_it = [&known](const auto& one) { return one.name == known.name; };
    if (std::ranges::none_of(installed.builds, is_it) &&
        std::ranges::none_of(installed.missing, is_it)) {
      installed.missing.push_back(
          {known.name, beside ? reason_of_absence(known, candidates) : beside.error().message});
    }
  }
  return installed;
}

Status check_search(const InstalledBuilds& installed, std::span<const std::string> references) {
  const auto is_found = [&installed](const std::string& reference) {
    return find_build(installed.builds, reference) != installed.builds.end();
  };
  if (!installed.fault) {
    return {};
  }
  const auto code = installed.fault->code;
  const bool is_about_all =
      code == ErrorCode::kExhausted || (code == ErrorCode::kCrashed && references.empty());
  return is_about_all || !std::ranges::all_of(references, is_found)
             ? Status(std::unexpected(*installed.fault))
             : Status();
}

Result<EngineBuild> get_build(const InstalledBuilds& installed, const std::string& reference) {
  if (const auto found = find_build(installed.builds, reference); found != installed.builds.end()) {
    return *found;
  }
  const auto missing = std::ranges::find(installed.missing, reference, &MissingEngine::name);
  if (missing != installed.missing.end()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("engine '{}' is not available: {}", reference, missing->reason));
  }
  std::vector<std::string> names;
  std::ranges::transform(installed.builds, std::back_inserter(names), &EngineBuild::reference);
  const auto lost = std::ranges::find(installed.missing, kRegistryName, &MissingEngine::name);
  return fail(ErrorCode::kNotFound,
              fmt::format("no engine '{}'{}{}", reference, suggestion_for(reference, names),
                          lost == installed.missing.end() ? "" : "; " + lost->reason));
}

Status register_build(const std::filesystem::path& home, const EngineBuild& build) {
  ASSAY_ASSIGN_OR_RETURN(const auto turn, take_registry(home));
  ASSAY_ASSIGN_OR_RETURN(auto builds, builds_to_rewrite(home));
  std::erase_if(builds, [&build](const EngineBuild& other) {
    return other.reference() == build.reference();
  });
  builds.push_back(build);
  return write_registry(home, builds);
}

std::vector<EngineBuild> registered_builds(const std::filesystem::path& home) {
  return read_registry(home).builds;
}

Result<EngineBuild> unregister_build(const std::filesystem::path& home,
                                     const std::string& reference) {
  ASSAY_ASSIGN_OR_RETURN(const auto turn, take_registry(home));
  ASSAY_ASSIGN_OR_RETURN(auto builds, builds_to_rewrite(home));
  const auto found = std::ranges::find(builds, reference, &EngineBuild::reference);
  if (found == builds.end()) {
    std::vector<std::string> names;
    std::ranges::transform(builds, std::back_inserter(names), &EngineBuild::reference);
    return fail(ErrorCode::kNotFound, fmt::format("no engine '{}' was added{}", reference,
                                                  suggestion_for(reference, names)));
  }
  auto build = std::move(*found);
  builds.erase(found);
  ASSAY_RETURN_IF_ERROR(write_registry(home, builds));
  return build;
}

Result<EngineBuild> register_runner(const std::filesystem::path& home,
                                    const std::filesystem::path& runner, const std::string& name,
                                    const std::string& label, SandboxMode sandbox) {
  ASSAY_ASSIGN_OR_RETURN(auto build, describe_runner(runner, sandbox));
  if (build.name != name) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is a runner of '{}': write {}@{}", runner.string(), build.name,
                            build.name, label));
  }
  build.label = label;
  ASSAY_RETURN_IF_ERROR(register_build(home, build));
  return build;
}

}  // namespace assay
