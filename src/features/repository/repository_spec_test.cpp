#include "features/repository/repository_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kWhole = R"({
  "schema": "assay/repository/1",
  // Comments are allowed.
  "repository": {"url": "..", "kind": "git", "branch": "main", "first_parent": false},
  "paths": {"include": ["src"], "exclude": ["*.md"]},
  "engine": "toy",
  "environments": {
    "release": {
      "build": [["cmake", "-S", "{source}", "-B", "{work}"], ["cmake", "--build", "{work}"]],
      "outputs": {"bench": "bin/bench"},
      "runner": "command", "env": {"CXXFLAGS": "-O3"}, "timeout": "10min", "reuse": true,
      "network": true
    },
    "avx2": {"build": [], "outputs": {"bench": "bench"}, "runner": "program"}
  },
  "spec": "bench.json",
  "policy": {"reference": "pinned:v1", "step": 4, "poll": "1min", "horizon": 50, "rounds": 5,
             "min_effect": {"steady_ns": "1.5%"}, "verify": false, "bisect": false,
             "share_of_verification": 0.25, "keep_builds": "2GB", "broken_commits": 0,
             "silent_commits": 9, "silent_time": "3d"},
  "notify": [{"argv": ["mail", "me"], "on": ["confirmed", "fixed"]},
             {"url": "https://example.org/hook", "token_file": "secret/token"}],
  "labels": {"team": "kernels"}
})";

Result<RepositorySpec> parsed(std::string_view text) {
  return repository_spec_from_text(text, "x.json", "/data/lab");
}

std::string message_with(std::string_view key, std::string_view value) {
  auto document = parse_json(kWhole, "x").value();
  document[key] = parse_json(value, "x").value();
  const auto spec = parsed(document.dump());
  return spec ? "" : spec.error().message;
}

TEST(RepositorySpec, ReadsEveryKey) {
  const auto spec = parsed(kWhole);
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->repository.url, "/data/");
  EXPECT_EQ(spec->repository.engine, "toy");
  EXPECT_EQ(spec->branch, "main");
  EXPECT_FALSE(spec->follows_first_parents);
  EXPECT_TRUE(spec->paths.matches("src/a"));
  ASSERT_EQ(spec->environments.size(), 2U);
  const auto& release = spec->environments[0];
  EXPECT_EQ(release.name, "release") << "the order of the file";
  EXPECT_THAT(release.build[1], ElementsAre("cmake", "--build", "{work}"));
  EXPECT_EQ(release.env.at("CXXFLAGS"), "-O3");
  EXPECT_EQ(release.timeout_ns, 600'000'000'000);
  EXPECT_TRUE(release.reuses_work && release.has_network);
  EXPECT_EQ(spec->environments[1].runner, RunnerKind::kProgram);
  EXPECT_EQ(spec->spec, "/data/lab/bench.json");
  EXPECT_EQ(spec->policy.reference, "pinned:v1");
  EXPECT_DOUBLE_EQ(spec->policy.min_effect_ratio.at("steady_ns"), 0.015);
  EXPECT_EQ(spec->policy.keep_builds_bytes, 2'000'000'000);
  EXPECT_EQ(spec->policy.broken_commits, 0);
  EXPECT_EQ(spec->policy.silent_commits, 9);
  EXPECT_EQ(spec->policy.silent_ns, 259'200'000'000'000);
  EXPECT_THAT(spec->notify[0].on, ElementsAre("confirmed", "fixed"));
  EXPECT_EQ(spec->notify[1].url, "https://example.org/hook");
  EXPECT_EQ(spec->notify[1].token_file, "/data/lab/secret/token");
  EXPECT_EQ(spec->labels.at("team"), "kernels");
}

TEST(RepositorySpec, NamesBuildsByTheFirstEnvironment) {
  const auto spec = parsed(kWhole).value();
  const std::string hash = "0123456789abcdef0123456789abcdef01234567";
  EXPECT_EQ(label_of_build(spec, spec.environments[0], hash), "0123456789ab");
  EXPECT_EQ(label_of_build(spec, spec.environments[1], hash), "0123456789ab-avx2");
  EXPECT_EQ(get_environment(spec, "")->name, "release");
  EXPECT_THAT(get_environment(spec, "avx").error().message, HasSubstr("did you mean 'avx2'?"));
}

TEST(RepositorySpec, KeepsAnAddress) {
  for (const char* url : {"https://host/a.git", "git@host:a/b.git", "ssh://host/a", "/abs"}) {
    auto document = parse_json(kWhole, "x").value();
    document["repository"]["url"] = url;
    EXPECT_EQ(parsed(document.dump())->repository.url, url);
  }
}

TEST(RepositorySpec, NamesWhatIsWrong) {
  EXPECT_EQ(message_with("enviroments", "{}"),
            "x.json: unknown key 'enviroments'; did you mean 'environments'?");
  EXPECT_THAT(message_with("repository", R"({"ur": "."})"),
              AllOf(HasSubstr("did you mean 'url'?"), HasSubstr("repository: needs a \"url\"")));
  EXPECT_THAT(message_with("repository", R"({"url": ".", "kind": "svn"})"),
              HasSubstr("repository.kind: 'svn' is not one of: git, hg"));
  EXPECT_THAT(message_with("repository", R"({"url": ".", "first_parent": 1})"),
              HasSubstr("must be true or false"));
  EXPECT_THAT(message_with("engine", R"("to/y")"), HasSubstr("engine: must be letters"));
  EXPECT_THAT(message_with("environments", "{}"), HasSubstr("with at least one"));
  EXPECT_THAT(message_with("policy", R"({"refernce": "week"})"), HasSubstr("'reference'"));
  EXPECT_THAT(message_with("policy", R"({"reference": "pinned:"})"),
              HasSubstr("policy.reference: must be"));
  EXPECT_THAT(message_with("policy", R"({"min_effect": {"steady_ns": "2"}})"),
              HasSubstr("policy.min_effect.steady_ns: must be a percentage"));
  EXPECT_THAT(message_with("policy", R"({"share_of_verification": 2})"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(message_with("policy", R"({"keep_builds": "10"})"), HasSubstr(""));
  EXPECT_THAT(message_with("notify", R"([{"on": ["confirmd"]}])"),
              AllOf(HasSubstr("needs either \"argv\""), HasSubstr("'confirmd' is not one of")));
  EXPECT_THAT(message_with("notify", R"([{"argv": ["mail"], "url": "http://x"}])"),
              HasSubstr("needs either \"argv\""));
  EXPECT_THAT(message_with("notify", R"([{"url": "ftp://x"}])"), HasSubstr("must begin with http"));
  EXPECT_THAT(message_with("notify", R"([{"url": "http://x\ny"}])"),
              HasSubstr("must begin with http"));
  EXPECT_THAT(message_with("notify", R"([{"argv": ["mail"], "token_file": "x"}])"),
              HasSubstr("\"token_file\" needs a \"url\""));
}

TEST(RepositorySpec, NamesWhatIsWrongWithAnEnvironment) {
  const auto with = [](std::string_view environment) {
    return message_with("environments", R"({"e": )" + std::string(environment) + "}");
  };
  EXPECT_THAT(with(R"({"outputs": {}})"), HasSubstr("environments.e: needs \"outputs\""));
  EXPECT_THAT(with(R"({"build": ["make"], "outputs": {"a": "b"}})"),
              HasSubstr("is a list of commands"));
  EXPECT_THAT(with(R"({"build": [[]], "outputs": {"a": "b"}})"), HasSubstr("is a command"));
  EXPECT_THAT(with(R"({"outputs": {"a": "../b"}})"), HasSubstr("must be a path below {work}"));
  EXPECT_THAT(with(R"({"outputs": {"a": "/b"}})"), HasSubstr("must be a path below {work}"));
  EXPECT_THAT(with(R"({"outputs": {"a": "b", "c": "d"}, "runner": "program"})"),
              HasSubstr("call the one"));
  EXPECT_THAT(with(R"({"outputs": {"a": "b"}, "timeout": 5})"), HasSubstr("a duration"));
  EXPECT_THAT(with(R"({"outputs": {"a": "b"}, "env": {"A": 1}})"), HasSubstr("env.A: must be a s"));
}

TEST(RepositorySpec, TellsEverythingAtOnce) {
  const auto spec = parsed(R"({"schema": "assay/repository/1", "engine": 3, "speck": "x"})");
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message,
              AllOf(HasSubstr("engine: must be a string"), HasSubstr("unknown key 'speck'"),
                    HasSubstr("needs a \"repository\""), HasSubstr("needs \"environments\"")));
}

TEST(RepositorySpec, RefusesAnotherSchema) {
  EXPECT_EQ(parsed(R"({"schema": "assay/repository/2"})").error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(parsed(R"({"schema": "assay/spec/1"})").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(parsed("[]").error().code, ErrorCode::kInvalidArgument);
}

TEST(RepositorySchema, KnowsTheSameKeysAndWordsAsTheReader) {
  const auto schema = parse_json(repository_schema(), "schema").value();
  const auto& defs = schema.at("$defs");
  const auto object = [&](std::string_view path) {
    const auto name = std::string(path.substr(0, path.find_first_of("[{")));
    return path.empty() ? schema : defs.at(name == "environments" ? "environment" : name);
  };
  for (const auto& [path, keys] : repository_keys()) {
    std::set<std::string> in_schema;
    const auto part = object(path);
    for (const auto& [key, ignored] : part.at("properties").items()) {
      in_schema.insert(key);
    }
    EXPECT_EQ(in_schema, std::set<std::string>(keys.begin(), keys.end())) << path;
    EXPECT_EQ(part.at("additionalProperties"), false) << path;
  }
  const auto names_of = [](const auto& table) {
    Json names = Json::array();
    for (const auto& entry : table) {
      names.push_back(entry.second);
    }
    return names;
  };
  EXPECT_EQ(defs.at("repository").at("properties").at("kind").at("enum"),
            names_of(kEnumNames<RepositoryKind>));
  EXPECT_EQ(defs.at("environment").at("properties").at("runner").at("enum"),
            names_of(kEnumNames<RunnerKind>));
  EXPECT_EQ(defs.at("notify").at("properties").at("on").at("items").at("enum"),
            names_of(kEnumNames<IncidentState>));
}

}  // namespace
}  // namespace assay
