#include "features/conform/result_reuse.h"

#include "features/conform/conform.h"
#include "features/conform/known_gaps.h"
#include "features/conform/testing/scripted_bench.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Unchanged, PassesHoldWhereNothingHasChanged) {
  ScriptedBench bench(
      {{1, {.alone = {ConformVerdict::kFailNumeric}, .joint = ConformVerdict::kFailNumeric}}});
  const auto first = bench.run();
  bench.start_again();
  bench.request.changed_since = first.run.id;
  const auto second = bench.run();
  EXPECT_THAT(bench.campaign.log, ElementsAre("alone 1 try 1", "alone 1 try 2"));
  EXPECT_EQ(verdicts_of(second), verdicts_of(first));
  EXPECT_EQ(second.results[0].unchanged_since, first.run.id);
  EXPECT_EQ(second.results[1].unchanged_since, "");
  EXPECT_THAT(second.notes, ElementsAre(HasSubstr("7 of 8 results are reused passes of run")));
  // The run that judged a case is asked, not the one that took its word for it.
  bench.start_again();
  bench.request.changed_since = second.run.id;
  EXPECT_EQ(bench.run().results[0].unchanged_since, first.run.id);
}

TEST(Unchanged, WhatAPassDependsOnSpeaksAgainstIt) {
  ScriptedBench bench({});
  bench.request.changed_since = bench.run().run.id;
  const auto judged_after = [&bench](auto change) {
    auto kept = bench.request;
    bench.start_again();
    change(bench);
    EXPECT_TRUE(bench.store->add_environment(bench.request.context.environment));
    const auto report = bench.run();
    bench.request = std::move(kept);
    return std::ranges::count(report.results, "", &ConformResult::unchanged_since);
  };
  EXPECT_EQ(judged_after([](ScriptedBench&) {}), 0);
  EXPECT_EQ(judged_after([](ScriptedBench& one) { one.toolchain = "another"; }), 8);
  bench.toolchain = "";
  EXPECT_EQ(
      judged_after([](ScriptedBench& one) {
        one.request.context.builds = {{.name = "executorch", .label = "1", .build_id = "rebuilt"}};
      }),
      8);
  EXPECT_EQ(judged_after([](ScriptedBench& one) {
              one.request.context.environment.id = "another";
              one.request.context.run.environment = "another";
            }),
            8);
  EXPECT_EQ(judged_after([](ScriptedBench& one) { one.request.listing.cases[2].inputs.seed = 5; }),
            1);
  EXPECT_EQ(
      judged_after([](ScriptedBench& one) {
        one.request.settings[0].gaps.relaxed_bounds = {
            {.match = {.operator_name = "aten.b"}, .error_bound_ratio = 2, .reason = "a table"}};
      }),
      4);
  EXPECT_EQ(judged_after([](ScriptedBench& one) {
              auto& tolerance = one.request.settings[0].pattern.recipe.tolerance;
              tolerance = {{"sqnr_db", 40}, {"why", "stricter"}};
            }),
            8);
}

TEST(Unchanged, ALibraryIsKnownByItsContent) {
  ScriptedBench bench({});
  const auto library = (bench.folder.path() / "libmine.so").string();
  ASSERT_TRUE(write_file_atomically(library, "kernels"));
  const auto reused_with = [&bench](const std::vector<std::string>& libraries) {
    bench.start_again();
    bench.request.context.settings.libraries = libraries;
    const auto report = bench.run();
    return 8 - std::ranges::count(report.results, "", &ConformResult::unchanged_since);
  };
  bench.request.changed_since = bench.run().run.id;
  EXPECT_EQ(reused_with({library}), 0) << "the earlier run had none";
  EXPECT_EQ(reused_with({"openvino=" + library}), 8) << "it is another engine's";
  bench.request.changed_since.clear();
  EXPECT_EQ(reused_with({library}), 0);
  bench.request.changed_since = bench.request.context.run.id;
  EXPECT_EQ(reused_with({"executorch=" + library}), 8) << "its content is the same";
  ASSERT_TRUE(write_file_atomically(library, "other kernels"));
  EXPECT_EQ(reused_with({library}), 0);
}

}  // namespace
}  // namespace assay
