// The front page tells what is wrong.
#include "features/site/site.h"
#include "features/site/testing/site_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/record/conformance.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"

namespace assay::site {
namespace {

using testing::HasSubstr;
using testing::Not;

class OverviewPage : public SiteTest {
 protected:
  OverviewPage() : store_(open_sqlite_store(file("results.db")).value()) {}

  /// Begins a run of conformance on the sample's machine; its id.
  std::string begin_conformance() {
    const assay::Run run{.id = make_id(),
                         .purpose = "conform",
                         .environment = "env-1",
                         .started_unix_ns = unix_time_ns()};
    EXPECT_TRUE(store_->add_run(run));
    return run.id;
  }

  /// Ends it with one result.
  void end_conformance(const std::string& run, ConformVerdict verdict, KnownGap known) {
    ConformReport report{.suite = "operators", .tier = "quick"};
    report.results = {{.name = "a", .recipe = "net/fp32", .verdict = verdict, .known = known}};
    EXPECT_TRUE(store_->add_attachment({.owner = run,
                                        .kind = std::string(kConformReportKind),
                                        .content = text_from_json(Json(report))}));
    EXPECT_TRUE(store_->finish_run(run, unix_time_ns()));
  }

  [[nodiscard]] std::string page() const { return body(*open_site(), "index.html"); }

  std::unique_ptr<ResultStore> store_;
};

TEST_F(OverviewPage, ANewFailureOfConformanceIsAFailedRunAndAKnownGapIsNone) {
  end_conformance(begin_conformance(), ConformVerdict::kCrashed, KnownGap::kKnownFailure);
  EXPECT_THAT(page(), HasSubstr("no failed run within 30 days"));
  const auto run = begin_conformance();
  end_conformance(run, ConformVerdict::kCrashed, KnownGap::kNewFailure);
  const auto failed = page();
  EXPECT_THAT(failed, Not(HasSubstr("no failed run within 30 days")));
  const auto list = failed.substr(failed.find("<h2>Failed runs"));
  EXPECT_THAT(list.substr(0, list.find("</section>")), HasSubstr("runs/" + run + ".html"));
}

TEST_F(OverviewPage, ARunOfConformanceThatGoesOnIsNotUnreadable) {
  begin_conformance();
  EXPECT_THAT(page(), Not(HasSubstr("unreadable")));
}

TEST_F(OverviewPage, ShowsTheIncidentsThatAreOpen) {
  const Repository repository{.url = "toyrepo", .engine = "toy"};
  ASSERT_TRUE(store_->add_repository(repository));
  Incident incident{.id = make_id(),
                    .repository = repository.id(),
                    .environment = "pc",
                    .cases = {"k1"},
                    .metric = "steady_ns",
                    .bad = "b",
                    .opened_unix_ns = 5,
                    .attribution = {{"label", "open-case"}},
                    .changed_unix_ns = 5};
  ASSERT_TRUE(store_->add_incident(incident));
  incident.id = make_id();
  incident.state = IncidentState::kRejected;
  incident.attribution = {{"label", "closed-case"}};
  ASSERT_TRUE(store_->add_incident(incident));
  EXPECT_THAT(page(), HasSubstr("open-case"));
  EXPECT_THAT(page(), Not(HasSubstr("closed-case")));
  const auto all = body(*open_site(), "incidents.html");
  EXPECT_THAT(all, HasSubstr("closed-case"));
  EXPECT_THAT(all, HasSubstr("2 incidents, 1 open"));
}

}  // namespace
}  // namespace assay::site
