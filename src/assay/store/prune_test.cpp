#include "assay/store/prune.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/store/result_store.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Newest first: "d" is under way, "a" is the oldest and the biggest.
std::vector<RunListing> four_runs() {
  std::vector<RunListing> runs;
  for (const auto* id : {"d", "c", "b", "a"}) {
    RunListing listing;
    listing.run.id = id;
    listing.run.started_unix_ns = id[0];
    listing.is_in_use = id[0] == 'd';
    listing.bytes = 1000 - id[0];
    runs.push_back(listing);
  }
  return runs;
}

TEST(Prune, RemovesNothingWithoutARule) {
  EXPECT_THAT(choose_runs_to_prune(four_runs(), {}), IsEmpty());
}

TEST(Prune, KeepsTheNewest) {
  EXPECT_THAT(choose_runs_to_prune(four_runs(), {.keep_newest = 2}), ElementsAre("a", "b"));
  EXPECT_THAT(choose_runs_to_prune(four_runs(), {.keep_newest = 4}), IsEmpty());
}

TEST(Prune, KeepsARunThatIsUnderWay) {
  EXPECT_THAT(choose_runs_to_prune(four_runs(), {.keep_newest = 0}), ElementsAre("a", "b", "c"));
}

TEST(Prune, KeepsARunWithTheLabelKeepWhateverItsValue) {
  auto runs = four_runs();
  runs[1].run.labels = {{"keep", "no"}};
  runs[3].run.labels = {{"keep", ""}};
  EXPECT_THAT(choose_runs_to_prune(runs, {.keep_newest = 0}), ElementsAre("b"));
}

TEST(Prune, RemovesWhatAllPartsOfTheRuleName) {
  EXPECT_THAT(choose_runs_to_prune(four_runs(), {.started_before_ns = 'c'}), ElementsAre("a", "b"));
  EXPECT_THAT(choose_runs_to_prune(four_runs(), {.bigger_than_bytes = 1000 - 'b'}),
              ElementsAre("a"));
  EXPECT_THAT(choose_runs_to_prune(four_runs(), {.keep_newest = 3, .started_before_ns = 'c'}),
              ElementsAre("a"));
}

TEST(Prune, ShrinksAStoreOnlyWhereMuchIsFreeAndTheRestIsSmall) {
  constexpr std::int64_t kMiB = 1 << 20;
  EXPECT_TRUE(is_soon_shrunk({.bytes = 10 * kMiB, .free_bytes = 6 * kMiB}));
  EXPECT_FALSE(is_soon_shrunk({.bytes = 10 * kMiB, .free_bytes = 4 * kMiB}));
  EXPECT_FALSE(is_soon_shrunk({.bytes = 5000 * kMiB, .free_bytes = 3000 * kMiB}));
  EXPECT_TRUE(is_soon_shrunk({.bytes = 5000 * kMiB, .free_bytes = 4900 * kMiB}));
  EXPECT_FALSE(is_soon_shrunk({.bytes = 10 * kMiB})) << "a server's";
}

}  // namespace
}  // namespace assay
