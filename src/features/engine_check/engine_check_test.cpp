#include "features/engine_check/engine_check.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/device/local_transport.h"
#include "assay/engine/description.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr const char* kLeakCheck = "survives_loading_again";

// AddressSanitizer keeps freed memory in quarantine, so that every engine seems to leak.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kCountsMemory = false;
#else
constexpr bool kCountsMemory = true;
#endif

/// Lets the fake engine, which breaks the contract on order, be checked.
class EngineCheck : public testing::Test {
 protected:
  std::vector<CheckFinding> check(const Json& more, const std::vector<std::string>& only = {}) {
    Json program = {{"inputs", {{{"name", "x"}, {"dtype", "float32"}, {"shape", {1, 4}}}}},
                    {"outputs", {{{"name", "y"}, {"dtype", "float32"}, {"shape", {1, 4}}}}}};
    program.update(more);
    const auto path = folder_.path() / "program.fake.json";
    EXPECT_TRUE(write_file_atomically(path, program.dump()));
    LocalTransport transport;
    auto agent = AgentClient::connect(transport).value();
    const auto build = describe_runner(executable_folder() / "assay-runner-fake").value();
    return check_engine(agent, {.build = build, .entry = path, .only = only, .loads = 40}, {})
        .value();
  }

  static CheckFinding finding(const std::vector<CheckFinding>& findings, const std::string& check) {
    const auto found = std::ranges::find(findings, check, &CheckFinding::check);
    return found == findings.end() ? CheckFinding{.check = "absent"} : *found;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("engine-check").value();
};

TEST_F(EngineCheck, PassesAnEngineThatKeepsTheContract) {
  const auto findings = check(Json::object());
  EXPECT_GE(findings.size(), 12U);
  for (const auto& one : findings) {
    if (kCountsMemory || one.check != kLeakCheck) {
      EXPECT_NE(one.verdict, CheckVerdict::kFail) << one.check << ": " << one.text;
    }
  }
  EXPECT_EQ(finding(findings, "refuses_wrong_inputs").verdict, CheckVerdict::kPass);
  if (kCountsMemory) {
    EXPECT_EQ(finding(findings, kLeakCheck).verdict, CheckVerdict::kPass);
  }
}

/// A fault of a program, and the only check that finds it.
struct Broken {
  const char* check;
  Json program;
  const char* text;
};

std::ostream& operator<<(std::ostream& out, const Broken& broken) { return out << broken.check; }

class EngineCheckFinds : public EngineCheck, public testing::WithParamInterface<Broken> {};

TEST_P(EngineCheckFinds, WhatIsBroken) {
  if (!kCountsMemory && std::string(GetParam().check) == kLeakCheck) {
    GTEST_SKIP() << "freed memory stays in quarantine";
  }
  const auto found = finding(check(GetParam().program, {GetParam().check}), GetParam().check);
  EXPECT_EQ(found.verdict, CheckVerdict::kFail);
  EXPECT_THAT(found.text, HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    All, EngineCheckFinds,
    testing::Values(Broken{"loads_the_program",
                           {{"misbehave", {{"at", "load"}, {"do", "segfault"}}}},
                           "SIGSEGV"},
                    Broken{"computes_what_it_reported",
                           {{"misbehave", {{"at", "first"}, {"do", "throw"}}}},
                           "threw"},
                    Broken{"computes_the_same_again", {{"output", {{"rule", "random"}}}}, "differ"},
                    Broken{"computes_the_same_again",
                           {{"faults", {{{"output", 0}, {"do", "stale"}}}}},
                           "behind other inputs"},
                    Broken{"times_inferences",
                           {{"misbehave", {{"at", "steady"}, {"do", "abort"}, {"after", 9}}}},
                           "SIGABRT"},
                    Broken{"honours_threads",
                           {{"execute_ns", 100'000}, {"helpers", 1}},
                           "asked for 1 thread, "},
                    Broken{kLeakCheck, {{"leak_load_bytes", 4096}}, "leaks"}));

TEST_F(EngineCheck, IsNotMisledByAHelperThatSpinsOnceAfterTheLoad) {
  const auto findings = check({{"execute_ns", 100'000}, {"helpers", 1}, {"helper_ns", 30'000'000}},
                              {"honours_threads"});
  EXPECT_EQ(findings.size(), 3U) << "what the others build on, and the one that was asked for";
  const auto found = finding(findings, "honours_threads");
  EXPECT_NE(found.verdict, CheckVerdict::kFail) << found.text;
}

TEST_F(EngineCheck, TakesAnyKindOfThreadsThatTheEngineTells) {
  const auto findings = check(
      {{"lies", {{{"answer", "load"}, {"body", {{"effective_options", {{"threads", "two"}}}}}}}}});
  const auto found = finding(findings, "honours_threads");
  EXPECT_EQ(found.verdict, CheckVerdict::kFail);
  EXPECT_THAT(found.text, HasSubstr("in force are \"two\""));
}

TEST_F(EngineCheck, EndsWhenTheProgramDoesNotLoad) {
  const auto findings = check({{"misbehave", {{"at", "load"}, {"do", "error"}}}});
  EXPECT_EQ(findings.back().check, "loads_the_program");
  EXPECT_EQ(findings.back().verdict, CheckVerdict::kFail);
}

}  // namespace
}  // namespace assay
