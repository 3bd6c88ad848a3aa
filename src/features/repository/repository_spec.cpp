#include "features/repository/repository_spec.h"

#include "features/repository/path_filter.h"
#include "features/repository/policy_reader.h"
#include "features/repository/runner_kind.h"
#include "features/repository/wheel_spec.h"
#include "repository_data.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/spec/node.h"
#include "assay/spec/spec.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kSchema = "assay/repository/1";
constexpr std::string_view kSchemaFamily = "assay/repository/";

constexpr auto kTopKeys = std::to_array<std::string_view>(
    {"$schema", "schema", "repository", "paths", "engine", "environments", "states", "spec",
     "policy", "notify", "labels"});
constexpr auto kSourceKeys =
    std::to_array<std::string_view>({"url", "kind", "branch", "first_parent"});
constexpr auto kPathKeys = std::to_array<std::string_view>({"include", "exclude", "operators"});
constexpr auto kEnvironmentKeys = std::to_array<std::string_view>(
    {"build", "outputs", "runner", "env", "timeout", "reuse", "network", "engine_class"});
constexpr auto kNotifyKeys = std::to_array<std::string_view>({"argv", "url", "token_file", "on"});

constexpr auto kKeys = std::to_array<SpecKeys>({{"", kTopKeys},
                                                {"repository", kSourceKeys},
                                                {"paths", kPathKeys},
                                                {"environments{}", kEnvironmentKeys},
                                                {"policy", kPolicyKeys},
                                                {"notify[]", kNotifyKeys}});

Status check_schema_of_repository(const Json& document, const std::string& origin) {
  const auto found = document.is_object() ? document.find("schema") : document.end();
  if (found == document.end() || !found->is_string()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: a repository file is an object that begins with \"schema\": "
                            "\"{}\"",
                            origin, kSchema));
  }
  const auto schema = found->get<std::string>();
  if (schema == kSchema) {
    return {};
  }
  const bool is_other_version = schema.starts_with(kSchemaFamily);
  return fail(is_other_version ? ErrorCode::kUnsupported : ErrorCode::kInvalidArgument,
              fmt::format("{}: schema: '{}' cannot be read, this Assay reads '{}'{}", origin,
                          schema, kSchema, is_other_version ? "; update Assay" : ""));
}

/// A folder on this machine by its absolute path; an address as it is.
std::string absolute_url(const std::string& url, const stdfs::path& folder) {
  const auto colon = url.find(':');
  const bool is_address = colon != std::string::npos && url.find('/') > colon;  // "git@host:path"
  return url.empty() || is_address ? url : (folder / url).lexically_normal().string();
}

/// A word that is part of names of folders and engines.
bool is_plain_name(const std::string& name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.front() != '-' && name.front() != '.' &&
         name.find_first_not_of(kAllowed) == std::string::npos;
}

void expect_plain_name(const Node& node, const std::string& name) {
  if (node.json().is_string() && !is_plain_name(name)) {
    node.complain("must be letters, digits, '.', '_' and '-'");
  }
}

void read_source(const Node& node, const stdfs::path& folder, RepositorySpec& spec) {
  if (!node.expect_object(kSourceKeys)) {
    return;
  }
  const auto url = node.text("url");
  if (url.empty() || url.front() == '-') {
    node.complain("needs a \"url\": an address, or a folder such as \"..\"");
  }
  read_member(node, "kind", spec.repository.kind, read_enum<RepositoryKind>);
  const bool is_package = spec.repository.kind == RepositoryKind::kWheel;
  spec.repository.url = is_package ? url : absolute_url(url, folder);
  spec.branch = node.text("branch");
  if (spec.branch.starts_with('-')) {
    node.complain("\"branch\" cannot begin with '-'");
  }
  read_member(node, "first_parent", spec.follows_first_parents, read_bool);
}

PathFilter read_paths(const Node& node) {
  PathFilter paths;
  if (node.expect_object(kPathKeys)) {
    paths.include = node.texts("include");
    paths.exclude = node.texts("exclude");
    if (const auto operators = node.find("operators")) {
      for (const auto& [name, ignored] : operators->members()) {
        paths.operators[name] = operators->texts(name);
      }
    }
  }
  return paths;
}

std::vector<std::string> read_argv(const Node& node) {
  std::vector<std::string> argv;
  for (const auto& item : node.items()) {
    argv.push_back(item.text());
  }
  if (node.json().is_array() && (argv.empty() || argv.front().empty())) {
    node.complain("is a command: a program, then its arguments");
  }
  return argv;
}

std::vector<std::vector<std::string>> read_build(const Node& node) {
  if (node.json().is_array() && !node.json().empty() && node.json().front().is_string()) {
    node.complain(R"(is a list of commands; for one write [["make", "-C", "{source}"]])");
    return {};
  }
  std::vector<std::vector<std::string>> build;
  for (const auto& item : node.items()) {
    build.push_back(read_argv(item));
  }
  return build;
}

std::map<std::string, std::string> read_texts_by_name(const Node& node) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : node.members()) {
    texts[name] = value.text();
  }
  return texts;
}

std::map<std::string, std::string> read_outputs(const Node& node) {
  auto outputs = read_texts_by_name(node);
  for (const auto& [name, value] : node.members()) {
    const auto path = stdfs::path(outputs[name]).lexically_normal();
    const bool is_below = stays_below(path) && path != ".";
    if (value.json().is_string() && !is_below) {
      value.complain("must be a path below {work}, such as \"bin/bench\"");
    }
    outputs[name] = path.string();
  }
  return outputs;
}

void check_environment(const Node& node, const BuildEnvironment& environment) {
  if (environment.outputs.empty()) {
    node.complain("needs \"outputs\", such as {\"bench\": \"bin/bench\"}");
  }
  if (environment.runner != RunnerKind::kCommand && environment.outputs.size() > 1 &&
      !environment.outputs.contains("runner")) {
    node.complain(
        fmt::format("has several \"outputs\" and runner \"{}\": call the one that is the "
                    "runner or the installation \"runner\"",
                    name_of(environment.runner)));
  }
  if (environment.timeout_ns <= 0) {
    node.complain("\"timeout\" must be greater than 0");
  }
}

/// "FILE.py:Class" with the file by its absolute path.
std::string read_engine_class(const Node& node, const stdfs::path& folder) {
  const auto text = node.text();
  if (node.json().is_string() && text.find(".py:") == std::string::npos) {
    node.complain("must be a file and a class, such as \"engine.py:MyEngine\"");
  }
  return (folder / text).lexically_normal().string();
}

BuildEnvironment read_environment_of_build(const std::string& name, const Node& node,
                                           const stdfs::path& folder, RepositoryKind kind) {
  auto environment = kind == RepositoryKind::kWheel ? wheel_environment() : BuildEnvironment();
  environment.name = name;
  if (!is_plain_name(name)) {
    node.complain("has a name that must be letters, digits, '.', '_' and '-'");
  }
  if (!node.expect_object(kEnvironmentKeys)) {
    return environment;
  }
  read_member(node, "build", environment.build, read_build);
  read_member(node, "outputs", environment.outputs, read_outputs);
  read_member(node, "runner", environment.runner, read_enum<RunnerKind>);
  read_member(node, "env", environment.env, read_texts_by_name);
  environment.timeout_ns = node.duration_ns("timeout", environment.timeout_ns);
  read_member(node, "reuse", environment.reuses_work, read_bool);
  read_member(node, "network", environment.has_network, read_bool);
  if (const auto engine_class = node.find("engine_class")) {
    environment.engine_class = read_engine_class(*engine_class, folder);
  }
  check_environment(node, environment);
  return environment;
}

bool is_http_url(const std::string& url) {
  const auto is_after = [&url](std::string_view scheme) {
    return url.starts_with(scheme) && url.size() > scheme.size();
  };
  const bool is_plain = std::ranges::all_of(url, [](char c) { return c > ' ' && c < '\x7f'; });
  return is_plain && (is_after("http://") || is_after("https://"));
}

void read_receiver(const Node& node, const stdfs::path& folder, Notification& notification) {
  read_member(node, "argv", notification.argv, read_argv);
  notification.url = node.text("url");
  if (node.find("argv").has_value() == node.find("url").has_value()) {
    node.complain("needs either \"argv\", a command that is told, or \"url\", an address");
  }
  if (node.find("url") && !is_http_url(notification.url)) {
    node.complain("\"url\" must begin with http:// or https://");
  }
  if (const auto file = node.text("token_file"); !file.empty()) {
    notification.token_file = (folder / file).lexically_normal();
  }
  if (node.find("token_file") && !node.find("url")) {
    node.complain("\"token_file\" needs a \"url\"");
  }
}

std::vector<Notification> read_notify(const Node& node, const stdfs::path& folder) {
  std::vector<Notification> notifications;
  for (const auto& item : node.items()) {
    if (!item.expect_object(kNotifyKeys)) {
      continue;
    }
    auto& notification = notifications.emplace_back();
    read_receiver(item, folder, notification);
    notification.on = item.texts("on");
    for (const auto& state : notification.on) {
      if (const auto known = enum_from_name<IncidentState>(state); !known && !state.empty()) {
        item.complain(fmt::format("on: {}", known.error().message));
      }
    }
  }
  return notifications;
}

/// Names in an object of the file, in its order: an object read from JSON has none.
std::vector<std::string> ordered_names(std::string_view text, const char* key) {
  const auto document = nlohmann::ordered_json::parse(text, nullptr, false, true);
  std::vector<std::string> names;
  const auto found = document.is_object() ? document.find(key) : document.end();
  if (found != document.end() && found->is_object()) {
    for (const auto& [name, ignored] : found->items()) {
      names.push_back(name);
    }
  }
  return names;
}

void read_environments(const Node& node, std::string_view text, const stdfs::path& folder,
                       RepositorySpec& spec) {
  const auto members = node.members();
  for (const auto& name : ordered_names(text, "environments")) {
    const auto member = std::ranges::find(members, name, [](const auto& one) { return one.first; });
    if (member != members.end()) {
      spec.environments.push_back(
          read_environment_of_build(name, member->second, folder, spec.repository.kind));
    }
  }
}

std::vector<NamedState> read_states(const Node& node, std::string_view text) {
  const auto values = read_texts_by_name(node);
  std::vector<NamedState> states;
  for (const auto& name : ordered_names(text, "states")) {
    if (!is_plain_name(name)) {
      node.complain(fmt::format("'{}' must be letters, digits, '.', '_' and '-'", name));
    }
    if (const auto value = values.find(name); value != values.end()) {
      states.push_back({.name = name, .value = value->second});
    }
  }
  return states;
}

void read_top(const Node& top, std::string_view text, const stdfs::path& folder,
              RepositorySpec& spec) {
  if (const auto source = top.find("repository")) {
    read_source(*source, folder, spec);
  } else {
    top.complain("needs a \"repository\", such as {\"url\": \"..\"}");
  }
  if (const auto engine = top.find("engine")) {
    spec.repository.engine = engine->text();
    expect_plain_name(*engine, spec.repository.engine);
  } else {
    top.complain("needs an \"engine\": the name under which its builds are listed");
  }
  if (const auto environments = top.find("environments")) {
    read_environments(*environments, text, folder, spec);
  }
  if (const auto states = top.find("states")) {
    spec.states = read_states(*states, text);
  }
  if (spec.environments.empty() && spec.repository.kind == RepositoryKind::kWheel) {
    spec.environments.push_back(wheel_environment());
  }
  if (spec.environments.empty()) {
    top.complain("needs \"environments\" with at least one, such as \"default\"");
  }
  read_member(top, "paths", spec.paths, read_paths);
  read_member(top, "policy", spec.policy, read_policy);
  read_member(top, "notify", spec.notify,
              [&](const Node& node) { return read_notify(node, folder); });
  read_member(top, "labels", spec.labels, read_texts_by_name);
  if (const auto measured = top.text("spec"); !measured.empty()) {
    spec.spec = (folder / measured).lexically_normal();
  }
}

}  // namespace

Result<RepositorySpec> repository_spec_from_text(std::string_view text, const std::string& origin,
                                                 const stdfs::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(auto document, parse_json(text, origin));
  ASSAY_RETURN_IF_ERROR(check_schema_of_repository(document, origin));
  Problems problems(origin);
  const Node top(document, "", problems);
  RepositorySpec spec{.origin = origin};
  if (top.expect_object(kTopKeys)) {
    read_top(top, text, folder, spec);
  }
  ASSAY_RETURN_IF_ERROR(problems.status());
  spec.digest = digest_of_json(document);
  spec.document = std::move(document);
  return spec;
}

Result<RepositorySpec> read_repository_file(const stdfs::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const auto text, read_file(path, kMaxJsonFileBytes));
  std::error_code error;
  const auto folder = stdfs::absolute(path, error).parent_path();
  return repository_spec_from_text(text, path.string(), folder);
}

Result<BuildEnvironment> get_environment(const RepositorySpec& spec, const std::string& name) {
  const auto found = std::ranges::find(spec.environments, name, &BuildEnvironment::name);
  if (name.empty()) {
    return spec.environments.front();
  }
  if (found != spec.environments.end()) {
    return *found;
  }
  std::vector<std::string> names;
  std::ranges::transform(spec.environments, std::back_inserter(names), &BuildEnvironment::name);
  return fail(ErrorCode::kNotFound, fmt::format("{} has no environment '{}'{}", spec.origin, name,
                                                suggestion_for(name, names)));
}

std::string label_of_build(const RepositorySpec& spec, const BuildEnvironment& environment,
                           const std::string& revision) {
  const bool is_first = spec.environments.front().name == environment.name;
  const auto name = spec.states_at.empty()
                        ? short_hash(revision)
                        : fmt::format("{}-{}", short_hash(spec.states_at), revision);
  return is_first ? name : fmt::format("{}-{}", name, environment.name);
}

BuildEnvironment with_state(const RepositorySpec& spec, const BuildEnvironment& environment,
                            const std::string& revision) {
  constexpr std::string_view kPlace = "{state}";
  const auto state = std::ranges::find(spec.states, revision, &NamedState::name);
  auto changed = environment;
  if (spec.states_at.empty() || state == spec.states.end()) {
    return changed;
  }
  const auto replace = [&](std::string& text) {
    for (auto at = text.find(kPlace); at != std::string::npos;
         at = text.find(kPlace, at + state->value.size())) {
      text.replace(at, kPlace.size(), state->value);
    }
  };
  for (auto& argv : changed.build) {
    std::ranges::for_each(argv, replace);
  }
  for (auto& [name, value] : changed.env) {
    replace(value);
  }
  return changed;
}

std::string_view noun_of_revisions(const RepositorySpec& spec) {
  if (!spec.states_at.empty()) {
    return "state";
  }
  return spec.repository.kind == RepositoryKind::kWheel ? "version" : "commit";
}

std::string_view repository_schema() { return repository_data("repository.schema.json"); }

std::span<const SpecKeys> repository_keys() { return kKeys; }

}  // namespace assay
