#include "features/repository/states_at.h"

#include "features/repository/build_cache.h"
#include "features/repository/builder.h"
#include "features/repository/mirror.h"
#include "features/repository/repository_spec.h"
#include "features/repository/testing/scratch_repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {
namespace {

using testing::HasSubstr;

TEST(States, KeepTheOrderOfTheFile) {
  const auto spec = repository_spec_from_text(
      R"({"schema": "assay/repository/1", "repository": {"url": "."}, "engine": "toy",
          "environments": {"e": {"build": [["cc", "{state}"]], "outputs": {"a": "a"},
                                 "env": {"FLAGS": "-g {state}"}}},
          "states": {"O3": "-O3", "O0": "-O0", "fast": "-O3 -ffast-math"}})",
      "toy.json", "/lab");
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  ASSERT_EQ(spec->states.size(), 3U);
  EXPECT_EQ(spec->states[1].name, "O0");
  const auto at = spec_of_states(*spec, "0123456789abcdef").value();
  EXPECT_NE(at.repository.id(), spec->repository.id());
  EXPECT_EQ(noun_of_revisions(at), "state");
  const auto& environment = at.environments.front();
  EXPECT_EQ(label_of_build(at, environment, "fast"), "0123456789ab-fast");
  EXPECT_EQ(with_state(at, environment, "O0").build.front().back(), "-O0");
  EXPECT_EQ(with_state(at, environment, "fast").env.at("FLAGS"), "-g -O3 -ffast-math");
}

TEST(States, AreNeeded) {
  const auto none = spec_of_states({.origin = "toy.json"}, "0123456789abcdef");
  EXPECT_EQ(none.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(none.error().message, HasSubstr("has no \"states\""));
}

TEST(States, AreBuiltFromOneCommit) {
  const ScratchRepository scratch;
  const auto first = scratch.commit_file("a.c", "old");
  static_cast<void>(scratch.commit_file("a.c", "new"));
  auto spec = scratch.spec(
      {shell_step("mkdir bin; cat \"$1/a.c\" > bin/bench; echo {state} >> bin/bench")});
  spec.environments.front().build.front().emplace_back("sh");
  spec.environments.front().build.front().emplace_back("{source}");
  spec.states = {{"O1", "-O1"}, {"O2", "-O2"}};
  auto mirror = make_mirror(spec, scratch.home() / "mirror");
  ASSERT_TRUE(mirror->update());
  const auto at = spec_of_states(spec, first).value();
  StatesAt states(std::move(mirror), at);
  const BuildCache cache(builds_folder(scratch.home()));
  for (const auto& [name, value] : at.states) {
    const auto built = build_revision(states, cache, name,
                                      {.spec = at,
                                       .environment = at.environments.front(),
                                       .home = scratch.home(),
                                       .lock_folder = scratch.locks()});
    ASSERT_TRUE(built.has_value()) << built.error().message;
    EXPECT_FALSE(built->is_cached) << name;
    EXPECT_EQ(read_file(built->entry.output("bench")).value(), "old" + value + "\n");
  }
}

}  // namespace
}  // namespace assay
