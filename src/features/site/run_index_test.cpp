#include "features/site/run_index.h"

#include "features/site/index_rows.h"
#include "features/site/index_update.h"
#include "features/site/testing/site_fixture.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/store/result_store.h"
#include "assay/store/sqlite/connection.h"

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
  EXPECT_EQ(rows[0].row.run, "r3");
  EXPECT_EQ(rows[1].row.run, "r2");
  const auto machines = index.machines().value();
  ASSERT_EQ(machines.size(), 1U);
  EXPECT_EQ(machines.front().runs, 3);
  EXPECT_EQ(machines.front().newest.environment.cpu_model, "r3");
}

TEST_F(RunIndexTest, FindsTheReferencesOfModelsAndTheUseOfOne) {
  auto index = open();
  for (const auto* ref : {"b", "a", "c"}) {
    auto rows = rows_of(ref, 1, "e@1", 10);
    rows.cases.front().model_ref = ref;
    ASSERT_TRUE(index.put(rows, "s").has_value());
  }
  EXPECT_EQ(index.model_refs().value(), (std::vector<std::string>{"a", "b", "c"}));
  const auto use = index.model_use("b").value();
  EXPECT_EQ(use.ref, "b");
  EXPECT_EQ(use.results, 1);
  EXPECT_FALSE(index.model_use("d"));
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
  EXPECT_EQ(newest[0].row.run, "r3");
  EXPECT_EQ(newest[1].row.summary.device, "pi5");
  const auto points = index.points_of_case("key", 10).value();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].device, "pi4 (pc)");
  EXPECT_EQ(points[1].device, "pi5 (pc)");
}

/// A run of the same case with its accuracy only.
RunRows evaluation_of(const std::string& id, std::int64_t started) {
  auto rows = rows_of(id, started, "e@1", 0);
  auto& summary = rows.cases.front().summary;
  summary.metrics = {{"sqnr_db", {.value = 40}}};
  summary.accuracy_tables = {{.against = "float32", .accuracy = Accuracy::kPass}};
  summary.accuracy = Accuracy::kPass;
  summary.outcome = Outcome::kCompleted;
  summary.verdict = Verdict::kPass;
  return rows;
}

TEST_F(RunIndexTest, KeepsTheTimesOfACaseThatIsEvaluatedLater) {
  auto index = open();
  auto timed = rows_of("bench", 1, "e@1", 10);
  timed.cases.front().summary.outcome = Outcome::kCompleted;
  ASSERT_TRUE(index.put(timed, "s").has_value());
  ASSERT_TRUE(index.put(evaluation_of("eval", 2), "s").has_value());
  auto cases = index.newest_of_model("net", 10).value();
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases.front().row.run, "eval");
  EXPECT_EQ(cases.front().row.summary.metrics.at("steady_ns").value, 10);
  EXPECT_EQ(cases.front().source_of("steady_ns").run, "bench");
  EXPECT_EQ(cases.front().source_of("sqnr_db").run, "eval");
}

TEST_F(RunIndexTest, FindsTheNewestValueAnewWhereItsRunIsRemovedOrPutAgain) {
  auto index = open();
  for (const int started : {1, 2}) {
    auto timed = rows_of(fmt::format("bench{}", started), started, "e@1", started * 10.0);
    timed.cases.front().summary.outcome = Outcome::kCompleted;
    ASSERT_TRUE(index.put(timed, "s").has_value());
  }
  ASSERT_TRUE(index.put(evaluation_of("eval", 3), "s").has_value());
  const auto steady = [&index] {
    return index.newest_of_model("net", 10).value().front().row.summary.metrics.at("steady_ns");
  };
  EXPECT_EQ(steady().value, 20);
  ASSERT_TRUE(index.put(evaluation_of("bench2", 2), "t").has_value()) << "it has no times now";
  EXPECT_EQ(steady().value, 10);
  ASSERT_TRUE(index.remove("eval").has_value());
  EXPECT_EQ(index.newest_of_model("net", 10).value().front().source_of("sqnr_db").run, "bench2");
  ASSERT_TRUE(index.remove("bench2").has_value());
  ASSERT_TRUE(index.remove("bench1").has_value());
  EXPECT_TRUE(index.newest_of_model("net", 10).value().empty());
}

TEST_F(RunIndexTest, PrefersTimesOfAPassThatCameToItsEnd) {
  auto index = open();
  auto stopped = rows_of("stopped", 1, "e@1", 30);
  stopped.cases.front().summary.reason_code = "unfinished";
  ASSERT_TRUE(index.put(stopped, "s").has_value());
  EXPECT_EQ(index.newest_of_model("net", 10).value().front().row.run, "stopped") << "the only one";
  auto whole = rows_of("whole", 2, "e@1", 10);
  whole.cases.front().summary.outcome = Outcome::kCompleted;
  ASSERT_TRUE(index.put(whole, "s").has_value());
  stopped.run.id = stopped.cases.front().run = "later";
  stopped.run.started_unix_ns = stopped.cases.front().started_unix_ns = 3;
  ASSERT_TRUE(index.put(stopped, "s").has_value());
  const auto latest = index.newest_of_model("net", 10).value().front();
  EXPECT_EQ(latest.row.summary.metrics.at("steady_ns").value, 10);
  EXPECT_EQ(latest.row.summary.outcome, Outcome::kCompleted);
}

/// A run of conformance with one case of each name.
RunRows conformance_of(const std::string& id, std::int64_t started, const std::string& suite,
                       const std::map<std::string, std::string>& verdicts, bool is_whole = false) {
  return {.run = {.id = id, .started_unix_ns = started},
          .conformance = {{.run = id,
                           .started_unix_ns = started,
                           .suite = suite,
                           .tier = "quick",
                           .is_whole = is_whole,
                           .recipe = "r",
                           .verdicts = verdicts}}};
}

TEST_F(RunIndexTest, KeepsTheNewestVerdictOfEachCaseOfConformance) {
  auto index = open();
  const std::map<std::string, std::string> all = {{"add", "pass"}, {"abs", "crashed"}};
  ASSERT_TRUE(
      index.put(conformance_of("gone", 1, "operators", {{"old", "pass"}}), "s").has_value());
  ASSERT_TRUE(index.put(conformance_of("night", 2, "operators", all, true), "s").has_value());
  ASSERT_TRUE(index.put(conformance_of("one", 3, "operators", {{"abs", "pass"}}), "s").has_value());
  ASSERT_TRUE(
      index.put(conformance_of("stopped", 4, "operators", {{"add", "not_run"}}), "s").has_value());
  ASSERT_TRUE(
      index.put(conformance_of("models", 5, "models", {{"net", "not_run"}}), "s").has_value());
  const auto rows = index.newest_conformance(10).value();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].run, "models");
  EXPECT_EQ(rows[1].run, "one");
  EXPECT_EQ(rows[1].verdicts,
            (std::map<std::string, std::string>{{"add", "pass"}, {"abs", "pass"}}));
  EXPECT_EQ(rows[1].counts, (std::map<std::string, int>{{"pass", 2}}));
  EXPECT_EQ(rows[1].earlier, (std::map<std::string, std::string>{{"add", "night"}}));
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

/// Runs SQL on the store that a test has damaged or repairs.
void change_store(const std::filesystem::path& file, const std::string& sql) {
  auto connection = sqlite::Connection::open(file).value();
  ASSERT_TRUE(connection.run_script(sql).has_value());
}

TEST_F(RunIndexTest, ReadsARunAgainThatWasUnreadable) {
  auto index = open();
  const auto other = add_run("results.db");
  const OpenStore open_store = [path = file("results.db")] {
    return open_sqlite_store(path, StoreAccess::kRead);
  };
  const auto update = [&](std::chrono::nanoseconds retry) {
    int read = 0;
    const auto state = update_index(
        index, open_store, {.limit = -1}, UpdateScope::kAll,
        [&read](const IndexState&) { return ++read > 0; }, retry);
    EXPECT_TRUE(state.has_value()) << state.error().message;
    return read;
  };
  const auto where = " WHERE run = '" + run_ + "'";
  change_store(file("results.db"), "UPDATE attempt SET outcome = 'bogus'" + where);
  update(std::chrono::minutes(1));
  EXPECT_NE(index.find_run(run_).value()->problem, "");
  EXPECT_EQ(index.find_run(other).value()->problem, "") << "one run stops no other";
  change_store(file("results.db"), "UPDATE attempt SET outcome = 'completed'" + where);
  EXPECT_EQ(update(std::chrono::minutes(1)), 0) << "not at once, as reading may take long";
  update(std::chrono::nanoseconds(0));
  EXPECT_EQ(index.find_run(run_).value()->problem, "");
  EXPECT_EQ(update(std::chrono::nanoseconds(0)), 0);
}

TEST_F(RunIndexTest, LeavesARunPendingWhereTheStoreCannotBeReadNow) {
  auto index = open();
  const auto store_file = file("results.db");
  const OpenStore open_store = [store_file] {
    return open_sqlite_store(store_file, StoreAccess::kRead);
  };
  const std::filesystem::path claims = store_file.string() + "-runs";
  const auto away = file("away");
  std::filesystem::rename(claims, away);
  const auto broken = update_index(index, open_store, {.limit = -1}, UpdateScope::kAll,
                                   [&claims](const IndexState&) {
                                     std::error_code known;  // A link to itself opens nothing.
                                     std::filesystem::create_symlink(claims, claims, known);
                                     return true;
                                   });
  ASSERT_TRUE(broken.has_value()) << broken.error().message;
  EXPECT_EQ(broken->pending, 1U);
  EXPECT_NE(broken->trouble, "");
  EXPECT_EQ(index.count_runs().value(), 0) << "nothing is wrong with the run";
  std::filesystem::remove(claims);
  std::filesystem::rename(away, claims);
  const auto again = update_index(index, open_store, {.limit = -1}, UpdateScope::kAll,
                                  [](const IndexState&) { return true; });
  EXPECT_EQ(again.value().pending, 0U);
  EXPECT_EQ(index.find_run(run_).value()->problem, "");
}

TEST_F(RunIndexTest, ReadsRunsFirstThatAreBegunMeanwhile) {
  auto index = open();
  for (int i = 1; i < 18; ++i) {  // More than are read through one opening.
    add_run("results.db");
  }
  const OpenStore open_store = [path = file("results.db")] {
    return open_sqlite_store(path, StoreAccess::kRead);
  };
  std::string begun;
  const auto state =
      update_index(index, open_store, {.limit = -1}, UpdateScope::kAll, [&](const IndexState& now) {
        if (begun.empty()) {
          begun = add_run("results.db");
        }
        return now.pending > 1;
      });
  EXPECT_EQ(state.value().runs, 19U);
  EXPECT_EQ(state.value().pending, 1U);
  EXPECT_TRUE(index.find_run(begun).value().has_value());
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
