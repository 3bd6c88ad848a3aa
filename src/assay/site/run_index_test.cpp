#include "assay/site/run_index.h"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/site/index_rows.h"
#include "assay/site/index_update.h"
#include "assay/site/testing/site_fixture.h"

namespace assay::site {
namespace {

RunRows rows_of(const std::string& id, std::int64_t started, const std::string& engine,
                double steady_ns) {
  CaseRow cell{.run = id, .started_unix_ns = started, .model_ref = "net", .device_class = "pc"};
  cell.summary.case_key = "key";
  cell.summary.label = "Net fp32";
  cell.summary.model = "net";
  cell.summary.engine = engine;
  cell.summary.metrics["steady_ns"] = {.value = steady_ns};
  return {.run = {.id = id, .name = "Night", .started_unix_ns = started, .labels = {{"a", "B"}}},
          .machines = {{.environment = {.id = "m", .cpu_model = id}}},
          .cases = {cell}};
}

class RunIndexTest : public SiteTest {
 protected:
  RunIndex open() { return RunIndex::open(file("index.db")).value(); }
};

TEST_F(RunIndexTest, ListsRunsNewestFirst) {
  auto index = open();
  ASSERT_TRUE(index.put(rows_of("r1", 1, "e@1", 10), "s").has_value());
  ASSERT_TRUE(index.put(rows_of("r2", 2, "e@2", 20), "s").has_value());
  const auto runs = index.runs(0, 10).value();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs.front().id, "r2");
  EXPECT_EQ(index.runs(1, 10).value().front().id, "r1");
  EXPECT_EQ(index.count_runs().value(), 2);
}

TEST_F(RunIndexTest, ReplacesARunThatIsPutAgain) {
  auto index = open();
  ASSERT_TRUE(index.put(rows_of("r1", 1, "e@1", 10), "s").has_value());
  ASSERT_TRUE(index.put(rows_of("r1", 1, "e@1", 30), "t").has_value());
  const auto points = index.points_of_case("key", 10).value();
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points.front().value, 30);
  EXPECT_EQ(index.stamps().value().at("r1"), "t");
}

TEST_F(RunIndexTest, ForgetsAllOfARunThatIsRemoved) {
  auto index = open();
  ASSERT_TRUE(index.put(rows_of("r1", 1, "e@1", 10), "s").has_value());
  ASSERT_TRUE(index.remove("r1").has_value());
  EXPECT_TRUE(index.runs(0, 10).value().empty());
  EXPECT_TRUE(index.results_of_case("key", 10).value().empty());
  EXPECT_TRUE(index.machines().value().empty());
  EXPECT_TRUE(index.models().value().empty());
}

TEST_F(RunIndexTest, FindsWordsInAnyCaseOfTheirLetters) {
  auto index = open();
  ASSERT_TRUE(index.put(rows_of("r1", 1, "Engine@1", 10), "s").has_value());
  EXPECT_EQ(index.search_runs({"night", "A=b"}, 0, 10).value().size(), 1U);
  EXPECT_TRUE(index.search_runs({"night", "A=b"}, 1, 10).value().empty()) << "the second page";
  EXPECT_TRUE(index.search_runs({"night", "day"}, 0, 10).value().empty());
  const std::vector<std::string> many = {"n", "i", "g", "h", "t", "day"};
  EXPECT_TRUE(index.search_runs(many, 0, 10).value().empty()) << "each word counts";
  EXPECT_EQ(index.count_found_runs({"night"}).value(), 1);
  EXPECT_EQ(index.count_found_runs({"day"}).value(), 0);
  EXPECT_EQ(index.search_cases({"NET", "fp32"}, 10).value().size(), 1U);
  EXPECT_TRUE(index.search_cases({"%"}, 10).value().empty());
}

TEST_F(RunIndexTest, KeepsTheNewestOfEachEngineBuild) {
  auto index = open();
  ASSERT_TRUE(index.put(rows_of("r1", 1, "e@1", 10), "s").has_value());
  ASSERT_TRUE(index.put(rows_of("r2", 2, "e@1", 20), "s").has_value());
  ASSERT_TRUE(index.put(rows_of("r3", 3, "e@2", 30), "s").has_value());
  const auto rows = index.newest_of_model("net", 10).value();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].run, "r3");
  EXPECT_EQ(rows[1].run, "r2");
  const auto machines = index.machines().value();
  ASSERT_EQ(machines.size(), 1U);
  EXPECT_EQ(machines.front().runs, 3);
  EXPECT_EQ(machines.front().newest.environment.cpu_model, "r3");
}

TEST_F(RunIndexTest, KeepsDevicesOfOneClassApart) {
  auto index = open();
  int started = 0;
  for (const auto* device : {"pi4", "pi5", "pi4"}) {
    ++started;
    auto rows = rows_of(fmt::format("r{}", started), started, "e@1", started * 10.0);
    rows.cases.front().summary.device = device;
    rows.cases.front().machine = machine_key({.device = device});
    ASSERT_TRUE(index.put(rows, "s").has_value());
  }
  const auto newest = index.newest_of_model("net", 10).value();
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0].run, "r3");
  EXPECT_EQ(newest[1].summary.device, "pi5");
  const auto points = index.points_of_case("key", 10).value();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].device, "pi4 (pc)");
  EXPECT_EQ(points[1].device, "pi5 (pc)");
}

RunRows conformance_of(const std::string& id, std::int64_t started, const std::string& suite,
                       const std::string& verdict) {
  return {.run = {.id = id, .started_unix_ns = started},
          .conformance = {{.run = id,
                           .started_unix_ns = started,
                           .suite = suite,
                           .recipe = "r",
                           .counts = {{verdict, 1}}}}};
}

TEST_F(RunIndexTest, KeepsTheNewestConformanceOfEachSuiteThatIsWhole) {
  auto index = open();
  ASSERT_TRUE(index.put(conformance_of("stopped", 1, "models", "not_run"), "s").has_value());
  ASSERT_TRUE(index.put(conformance_of("first", 2, "operators", "pass"), "s").has_value());
  ASSERT_TRUE(index.put(conformance_of("second", 3, "operators", "pass"), "s").has_value());
  ASSERT_TRUE(index.put(conformance_of("third", 4, "operators", "not_run"), "s").has_value());
  const auto rows = index.newest_conformance(10).value();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].run, "second");
  EXPECT_EQ(rows[1].run, "stopped");
}

TEST_F(RunIndexTest, IsMadeAnewWhereTheFileIsNone) {
  std::ofstream(file("index.db")) << std::string(10000, 'x');
  auto index = open();
  EXPECT_EQ(index.count_runs().value(), 0);
}

TEST_F(RunIndexTest, FollowsTheStore) {
  auto index = open();
  const OpenStore open_store = [path = file("results.db")] {
    return open_sqlite_store(path, StoreAccess::kRead);
  };
  int read = 0;
  const auto count = [&read](const IndexState&) {
    ++read;
    return true;
  };
  ASSERT_EQ(
      update_index(index, open_store, {.limit = -1}, UpdateScope::kAll, count).value().pending, 0U);
  EXPECT_EQ(index.count_runs().value(), 1);
  EXPECT_GT(read, 0);
  read = 0;
  ASSERT_TRUE(update_index(index, open_store, {.limit = -1}, UpdateScope::kAll, count).has_value());
  EXPECT_EQ(read, 0) << "a finished run is read once";

  const auto store = open_sqlite_store(file("results.db")).value();
  ASSERT_TRUE(store->tag_run(run_, {{"best", ""}}, {}).has_value());
  ASSERT_TRUE(update_index(index, open_store, {.limit = -1}, UpdateScope::kAll, count).has_value());
  EXPECT_TRUE(index.find_run(run_).value()->labels.contains("best"));
  ASSERT_TRUE(store->remove_run(run_).has_value());
  ASSERT_TRUE(update_index(index, open_store, {.limit = -1}, UpdateScope::kAll, count).has_value());
  EXPECT_EQ(index.count_runs().value(), 0);
}

TEST_F(RunIndexTest, SeesNewRunsInAListOfTheNewest) {
  auto index = open();
  ASSERT_TRUE(index.put(rows_of("elsewhere", 1, "e@1", 10), "s").has_value());
  const OpenStore open_store = [path = file("results.db")] {
    return open_sqlite_store(path, StoreAccess::kRead);
  };
  const auto goes_on = [](const IndexState&) { return true; };
  ASSERT_TRUE(
      update_index(index, open_store, {.limit = -1}, UpdateScope::kNewest, goes_on).has_value());
  EXPECT_EQ(index.count_runs().value(), 2) << "a part of the list removes nothing";
}

TEST_F(RunIndexTest, OfAStoreThatIsNotThereIsEmpty) {
  auto index = open();
  const OpenStore open_store = [path = file("absent.db")] {
    return open_sqlite_store(path, StoreAccess::kRead);
  };
  const auto state = update_index(index, open_store, {.limit = -1}, UpdateScope::kAll,
                                  [](const IndexState&) { return true; });
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->runs, 0U);
}

}  // namespace
}  // namespace assay::site
