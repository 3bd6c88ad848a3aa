#include "features/site/site.h"

#include "features/site/testing/site_fixture.h"
#include "features/site/write_site.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/incident.h"
#include "assay/record/launch.h"
#include "assay/record/repository.h"
#include "assay/record/run.h"
#include "assay/store/lost_executions.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"

namespace assay::site {
namespace {

using testing::HasSubstr;
using testing::Not;

class SitePages : public SiteTest {
 protected:
  static std::string runs_page(Site& site, const std::map<std::string, std::string>& query) {
    return site.render({.path = "runs.html", .query = query}).value().body;
  }

  /// A finished run of `assay VERB`, with one case on a device where it is named.
  std::string add_plain_run(const std::string& verb, const std::string& device = "local",
                            Outcome outcome = Outcome::kCompleted) const {
    const auto store = open_sqlite_store(file("results.db")).value();
    assay::Run run{.id = make_id(),
                   .labels = {{"of", verb}, {"commit", std::string(40, 'a')}},
                   .argv = {"assay", verb},
                   .environment = "env-1",
                   .started_unix_ns = unix_time_ns()};
    Case cell;
    cell.model.ref = "torchvision:" + verb + "_net";
    cell.recipe.name = "fp32";
    cell.engine_build = "e@1";
    cell.device = device;
    const Subject subject{.engine_build = cell.engine_build};
    EXPECT_TRUE(store->add_run(run));
    EXPECT_TRUE(store->add_case(run.id, cell));
    EXPECT_TRUE(store->add_subject(subject));
    EXPECT_TRUE(store->put_attempt({.id = make_id(),
                                    .run = run.id,
                                    .case_key = case_key(cell),
                                    .subject = subject_key(subject),
                                    .device = device,
                                    .is_finished = true,
                                    .outcome = outcome}));
    EXPECT_TRUE(store->finish_run(run.id, run.started_unix_ns + 1));
    return run.id;
  }
};

TEST_F(SitePages, ChoosesRunsByVerbLabelModelAndDevice) {
  const auto bench = add_plain_run("bench");
  const auto eval = add_plain_run("eval", "board");
  const auto site = open_site();
  const auto expect_only = [&](const std::map<std::string, std::string>& query,
                               const std::string& shown, const std::string& hidden) {
    const auto page = runs_page(*site, query);
    EXPECT_THAT(page, HasSubstr(shown + ".html")) << query.begin()->first;
    EXPECT_THAT(page, Not(HasSubstr(hidden + ".html"))) << query.begin()->first;
  };
  expect_only({{"verb", "bench"}}, bench, eval);
  expect_only({{"label", "of=eval"}}, eval, bench);
  expect_only({{"model", "bench_net"}}, bench, eval);
  expect_only({{"device", "board"}}, eval, bench);
  EXPECT_THAT(runs_page(*site, {{"device", "board"}, {"verb", "bench"}}), HasSubstr("No run is"));
  EXPECT_THAT(runs_page(*site, {}), HasSubstr("commit=aaaaaaaaaaaa<"));
}

TEST_F(SitePages, LeavesStepsOfAWatchOutUnlessTheyAreAskedFor) {
  add_plain_run("bench");
  const auto site = open_site();
  EXPECT_THAT(runs_page(*site, {}), Not(HasSubstr(run_ + ".html"))) << "it verifies an incident";
  EXPECT_THAT(runs_page(*site, {}), HasSubstr("1 of 2 runs"));
  EXPECT_THAT(runs_page(*site, {{"steps", "1"}}), HasSubstr(run_ + ".html"));
  const auto files = open_site(/*is_static=*/true);
  EXPECT_THAT(body(*files, "runs.html"), HasSubstr(run_ + ".html")) << "its script chooses";
}

TEST_F(SitePages, ShowsEachDeviceByItsName) {
  add_plain_run("bench", "board");
  add_plain_run("bench", "pi5");
  const auto last = add_plain_run("eval", "pi5", Outcome::kCrashed);
  const auto page = body(*open_site(), "devices.html");
  EXPECT_THAT(page, HasSubstr("<h3>board</h3>"));
  EXPECT_THAT(page, HasSubstr("<h3>pi5</h3>"));
  EXPECT_THAT(page, HasSubstr("2 runs, 1 failed"));
  EXPECT_THAT(page, HasSubstr("runs/" + last + ".html"));
}

TEST_F(SitePages, SetsOnlyCasesOfOneDeviceAgainstEachOther) {
  add_plain_run("bench", "board");
  add_plain_run("bench", "pi5");
  const auto site = open_site();
  const auto models = body(*site, "models.html");
  const std::string stem = "models/";
  const auto at = models.find("bench_net");
  const auto start = models.rfind(stem, at);
  const auto page = body(*site, models.substr(start, models.find('"', start) - start));
  EXPECT_THAT(page, HasSubstr("fastest first, on board"));
  EXPECT_THAT(page, HasSubstr("fastest first, on pi5"));
}

TEST_F(SitePages, ComparesTwoRunsThatAreMarkedInTheList) {
  const auto other = add_run("results.db");
  const auto site = open_site();
  const auto list = runs_page(*site, {{"steps", "1"}});
  for (const auto& run : {run_, other}) {
    for (const auto* side : {"a", "b"}) {
      EXPECT_THAT(list, HasSubstr(fmt::format("name=\"{}\" value=\"{}\"", side, run)));
    }
  }
  EXPECT_THAT(list, HasSubstr("compare.html"));
  const auto page_of = [&](const std::map<std::string, std::string>& query) {
    return site->render({.path = "compare.html", .query = query}).value().body;
  };
  const auto page = page_of({{"a", run_}, {"b", other}});
  EXPECT_THAT(page, HasSubstr("0 of 1 case may have changed in steady"));
  EXPECT_THAT(page, HasSubstr("runs/" + other + ".html"));
  EXPECT_THAT(page_of({{"a", run_}, {"b", other}, {"metric", "no_such"}}),
              HasSubstr("no timed case in common"));
  EXPECT_THAT(page_of({}), HasSubstr("Choose a run A and a run B"));
  EXPECT_FALSE(site->render({.path = "compare.html", .query = {{"a", "zz"}, {"b", other}}}));
}

TEST_F(SitePages, NamesTheWorkersOfAFleetAndWhatWasLost) {
  EXPECT_THAT(body(*open_site(), "fleet.html"), HasSubstr("No run of this store"));
  const auto run = add_plain_run("bench", "board");
  const auto store = open_sqlite_store(file("results.db")).value();
  ASSERT_TRUE(store->add_execution({.id = make_id(),
                                    .run = run,
                                    .job = "job",
                                    .worker = "w1:47",
                                    .device = "board",
                                    .started_unix_ns = 1'700'000'000'000'000'000,
                                    .finished_unix_ns = 1'700'000'001'000'000'000}));
  ASSERT_TRUE(add_lost_execution(*store, run,
                                 {.job = "job",
                                  .label = "bench_net fp32",
                                  .device = "pi5",
                                  .why = "its worker gave no sign of life",
                                  .lost_unix_ns = 1'700'000'000'000'000'000}));
  const auto site = open_site();
  const auto page = body(*site, "fleet.html");
  EXPECT_THAT(page, HasSubstr("1 worker"));
  EXPECT_THAT(page, HasSubstr("1 lost execution"));
  for (const auto* words : {"w1", "board", "pi5", "bench_net fp32", "no sign of life"}) {
    EXPECT_THAT(page, HasSubstr(words));
  }
  EXPECT_THAT(body(*site, "devices.html"), HasSubstr("fleet.html"));
  const auto report = body(*site, "runs/" + run + ".html");
  EXPECT_THAT(report, HasSubstr("w1:47: 1 execution"));
  EXPECT_THAT(report, HasSubstr("pi5 with bench_net fp32 (its worker gave no sign of life)"));
}

TEST_F(SitePages, BeginsWithWhatIsNewAndWhatIsWrong) {
  EXPECT_THAT(body(*open_site(), "index.html"), HasSubstr("Devices not seen for 7 days"));
  const auto fine = add_plain_run("bench", "board");
  const auto bad = add_plain_run("eval", "board", Outcome::kCrashed);
  const auto page = body(*open_site(), "index.html");
  EXPECT_THAT(page, HasSubstr("Failed runs"));
  EXPECT_THAT(page, HasSubstr(bad + ".html"));
  EXPECT_THAT(page, HasSubstr(fine + ".html"));
  EXPECT_THAT(page, HasSubstr("no open incident"));
  EXPECT_THAT(page, HasSubstr("1 of them steps"));
}

TEST_F(SitePages, SaysOfAnIncidentWhatChangedWhereAndWhichRunShowsIt) {
  const auto store = open_sqlite_store(file("results.db")).value();
  const Repository repository{.url = "/somewhere/deep/toyrepo", .engine = "toy"};
  ASSERT_TRUE(store->add_repository(repository));
  const std::string good(40, 'b');
  const std::string bad(40, 'c');
  const std::vector<Revision> revisions = {
      {.repository = repository.id(), .hash = good, .position = 1},
      {.repository = repository.id(), .hash = bad, .position = 2, .subject = "conv: simplify"}};
  ASSERT_TRUE(store->add_revisions(revisions));
  Incident incident{.id = make_id(),
                    .repository = repository.id(),
                    .environment = "pc",
                    .cases = {"k1"},
                    .metric = "steady_ns",
                    .good = good,
                    .bad = bad,
                    .opened_unix_ns = 5,
                    .culprit = bad,
                    .attribution = {{"label", "net.command"}},
                    .changed_unix_ns = 5};
  ASSERT_TRUE(store->add_incident(incident));
  const auto site = open_site();
  for (const auto* path : {"incidents.html", "index.html"}) {
    const auto page = body(*site, path);
    EXPECT_THAT(page, HasSubstr("net.command")) << path;
    EXPECT_THAT(page, HasSubstr("conv: simplify")) << path;
    EXPECT_THAT(page, HasSubstr("cccccccccccc<")) << path;
    EXPECT_THAT(page, HasSubstr("toyrepo<")) << path;
  }
  EXPECT_THAT(body(*site, "incidents.html"), HasSubstr("<h2>toyrepo</h2>"));
}

/// A launch that went on for minutes: half a million samples, one of them far off.
Launch long_launch(const std::string& attempt, int index) {
  auto launch = make_launch(attempt, index);
  auto& measurement = *launch.measurement;
  const auto grown = [](std::vector<std::int64_t>& column) {
    const auto pattern = column;
    column.clear();
    for (std::size_t i = 0; i < 500'000; ++i) {
      column.push_back(pattern[(i * 7) % pattern.size()]);
    }
  };
  grown(measurement.samples.bind_ns);
  grown(measurement.samples.execute_ns);
  grown(measurement.samples.fetch_ns);
  measurement.samples.execute_ns[300'001] = 987'654'321;
  measurement.warmup_iterations = 0;
  measurement.iterations = 500'000;
  return launch;
}

TEST_F(SitePages, AreSmallWhateverWasMeasuredAndTheirNumbersAreThoseOfAll) {
  const auto store = open_sqlite_store(file("results.db")).value();
  auto sample = add_sample_run(*store);
  for (int index = 1; index < 5; ++index) {
    ASSERT_TRUE(store->add_launch(long_launch(sample.attempt.id, index)));
  }
  sample.attempt.is_finished = true;
  sample.attempt.outcome = Outcome::kCompleted;
  ASSERT_TRUE(store->put_attempt(sample.attempt));
  ASSERT_TRUE(store->finish_run(sample.run.id, sample.run.started_unix_ns + 1));
  const auto site = open_site();
  const auto run = body(*site, "runs/" + sample.run.id + ".html");
  EXPECT_THAT(run, HasSubstr("987654321")) << "the farthest sample is drawn";
  EXPECT_THAT(run, HasSubstr("\"inferences\":500000"));
  const std::string open = "id=\"assay-data\">";
  const auto from = run.find(open) + open.size();
  const auto page =
      parse_json(run.substr(from, run.find("</script>", from) - from), "page").value();
  const auto all =
      parse_json(body(*site, "api/runs/" + sample.run.id + "/report"), "report").value();
  EXPECT_EQ(page.at("cases").at(0).at("metrics"), all.at("cases").at(0).at("metrics"));
  EXPECT_EQ(all.at("cases").at(0).at("launches").at(1).at("execute_ns").size(), 500'000U);
  const auto written = write_site(*open_site(/*is_static=*/true), file("pages"),
                                  [](const SiteProgress&) { return true; });
  ASSERT_TRUE(written.has_value());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(file("pages"))) {
    if (entry.path().extension() == ".html") {
      EXPECT_LT(entry.file_size(), 3'000'000U) << entry.path();
    }
  }
}

TEST_F(SitePages, ShowsEachRunWithALinkToItsPage) {
  const auto site = open_site();
  EXPECT_THAT(runs_page(*site, {{"steps", "1"}}), HasSubstr("href=\"runs/" + run_ + ".html\""));
  EXPECT_EQ(body(*site, ""), body(*site, "index.html"));
  EXPECT_THAT(body(*site, "runs/" + run_ + ".html"), HasSubstr("src=\"../assets/report.js\""));
}

TEST_F(SitePages, LeadsFromARunToItsCaseAndFromThereToTheModel) {
  const auto site = open_site();
  const auto run = body(*site, "runs/" + run_ + ".html");
  const auto at = run.find("href=\"../cases/");
  ASSERT_NE(at, std::string::npos);
  const auto path = run.substr(at + 9, run.find('"', at + 9) - at - 9);
  const auto page = body(*site, path);
  EXPECT_THAT(page, HasSubstr("data-chart=\"over-time\""));
  EXPECT_THAT(page, HasSubstr("../models/"));
  const auto model_at = page.find("../models/");
  const auto model =
      body(*site, page.substr(model_at + 3, page.find('"', model_at) - model_at - 3));
  EXPECT_THAT(model, HasSubstr("executorch/<wbr>xnnpack-<wbr>int8"));
  EXPECT_THAT(body(*site, "models.html"), HasSubstr("torchvision:mobilenet_v2"));
}

TEST_F(SitePages, AreThereWithoutAnyRun) {
  const auto store = open_sqlite_store(file("results.db")).value();
  ASSERT_TRUE(store->remove_run(run_).has_value());
  const auto site = open_site();
  for (const auto* path : {"index.html", "runs.html", "models.html", "conformance.html",
                           "comparisons.html", "incidents.html", "devices.html", "search.html"}) {
    EXPECT_THAT(body(*site, path), HasSubstr("</html>")) << path;
  }
  EXPECT_THAT(body(*site, "index.html"), HasSubstr("no run yet"));
  EXPECT_THAT(body(*site, "runs.html"), HasSubstr("no run yet"));
}

TEST_F(SitePages, FindsWhatIsSearchedFor) {
  const auto site = open_site();
  const auto hits = site->render({.path = "search.html", .query = {{"q", "NIGHT mobilenet"}}});
  EXPECT_THAT(hits.value().body, HasSubstr("runs/" + run_ + ".html"));
  const auto none = site->render({.path = "search.html", .query = {{"q", "absent"}}});
  EXPECT_THAT(none.value().body, HasSubstr("0 hits"));
  const auto hostile = site->render({.path = "search.html", .query = {{"q", "<b>\"x"}}});
  EXPECT_THAT(hostile.value().body, Not(HasSubstr("<b>\"")));
}

TEST_F(SitePages, AnswersNothingOutside) {
  const auto site = open_site();
  for (const auto* path :
       {"../etc/passwd", "runs/../index.html", "runs/..%2f", "assets/../site.cpp", "assets/",
        "runs/.html", "runs-0.html", "runs-1.html", "runs-99999.html", "runs-x.html",
        "cases/nothing.html", "models/nothing.html", "history/nothing.html", "api", "api/x",
        "runs/latest.html", "results.db", ".assay-site"}) {
    const auto page = site->render({.path = path});
    ASSERT_FALSE(page.has_value()) << path;
    EXPECT_EQ(page.error().code, ErrorCode::kNotFound) << path << page.error().message;
  }
}

TEST_F(SitePages, EscapesWhatALabelSays) {
  const auto store = open_sqlite_store(file("results.db")).value();
  ASSERT_TRUE(store->tag_run(run_, {{"<img src=x>", "</script><script>alert(1)</script>"}}, {})
                  .has_value());
  const auto site = open_site();
  for (const auto& path :
       {std::string("index.html"), std::string("runs.html"), "runs/" + run_ + ".html"}) {
    const auto page = body(*site, path);
    EXPECT_THAT(page, Not(HasSubstr("<script>alert"))) << path;
    EXPECT_THAT(page, Not(HasSubstr("<img"))) << path;
  }
}

TEST_F(SitePages, GivesTheDocumentsOfTheCommandLine) {
  const auto site = open_site();
  const auto runs = parse_json(body(*site, "api/runs"), "runs").value();
  EXPECT_EQ(runs["schema"], "assay/runs/1");
  EXPECT_EQ(runs["runs"][0]["id"], run_);
  EXPECT_EQ(runs["runs"][0]["launches"], 1);
  const auto found_by = [&site](const std::string& words, const std::string& offset) {
    const auto page =
        site->render({.path = "api/runs", .query = {{"q", words}, {"offset", offset}}}).value();
    const auto found = parse_json(page.body, "runs").value();
    return std::pair(found["runs"].size(), found["total"].get<int>());
  };
  EXPECT_EQ(found_by(run_.substr(0, 8), "0"), std::pair(std::size_t{1}, 1));
  EXPECT_EQ(found_by(run_.substr(0, 8), "1"), std::pair(std::size_t{0}, 1)) << "the next page";
  EXPECT_EQ(found_by("zzzz", "0"), std::pair(std::size_t{0}, 0));
  const auto report = parse_json(body(*site, "api/runs/" + run_ + "/report"), "report").value();
  EXPECT_EQ(report["schema"], "assay/report/1");
  EXPECT_EQ(report["run"]["id"], run_);
  EXPECT_EQ(parse_json(body(*site, "api/status"), "status").value()["indexed"], 1);
  EXPECT_TRUE(parse_json(body(*site, "api/openapi.json"), "description").has_value());
}

TEST_F(SitePages, SayWhatIsPendingUntilAllRunsWereRead) {
  const auto site = Site::open({.open_store =
                                    [path = file("results.db")] {
                                      return open_sqlite_store(path, StoreAccess::kRead);
                                    },
                                .index_file = file("pending.db")})
                        .value();
  const auto pending = [&] {
    return parse_json(body(*site, "api/status"), "status").value()["pending"].get<int>();
  };
  const auto stop = [](const IndexState&) { return false; };
  ASSERT_TRUE(site->update(stop).has_value());
  EXPECT_EQ(pending(), 1);
  EXPECT_THAT(body(*site, "index.html"), HasSubstr("being read"));
  ASSERT_TRUE(site->update(stop, UpdateScope::kNewest).has_value());
  EXPECT_GE(pending(), 1);
  ASSERT_TRUE(site->update([](const IndexState&) { return true; }).has_value());
  EXPECT_EQ(pending(), 0);
}

TEST_F(SitePages, RefusesParametersThatAreNoNumbers) {
  const auto site = open_site();
  for (const auto* limit : {"-1", "x", "1001", "1e3", ""}) {
    const auto page = site->render({.path = "api/runs", .query = {{"limit", limit}}});
    ASSERT_FALSE(page.has_value()) << limit;
    EXPECT_EQ(page.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace assay::site
