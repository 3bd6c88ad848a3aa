#pragma once

#include "features/site/site.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"

namespace assay::site {

/// A store with one run of one timed case, and a site of it.
class SiteTest : public testing::Test {
 protected:
  SiteTest() : folder_(make_store_folder()) { run_ = add_run("results.db"); }

  [[nodiscard]] std::filesystem::path file(const std::string& name) const {
    return folder_.path() / name;
  }

  /// Adds a run and ends it; its id.
  std::string add_run(const std::string& store_name) const {
    const auto store = open_sqlite_store(file(store_name)).value();
    const auto sample = add_sample_run(*store);
    auto attempt = sample.attempt;
    attempt.is_finished = true;
    attempt.outcome = Outcome::kCompleted;
    EXPECT_TRUE(store->put_attempt(attempt).has_value());
    EXPECT_TRUE(store->finish_run(sample.run.id, sample.run.started_unix_ns + 1).has_value());
    return sample.run.id;
  }

  /// A site that is up to date.
  [[nodiscard]] std::unique_ptr<Site> open_site(bool is_static = false) const {
    auto site = Site::open({.open_store =
                                [path = file("results.db")] {
                                  return open_sqlite_store(path, StoreAccess::kRead);
                                },
                            .store_name = "results.db",
                            .index_file = file("index.db"),
                            .is_static = is_static})
                    .value();
    EXPECT_TRUE(site->update([](const IndexState&) { return true; }).has_value());
    return site;
  }

  /// The body of a page, or its error.
  static std::string body(Site& site, const std::string& path) {
    const auto page = site.render({.path = path});
    return page ? page->body : "error: " + page.error().message;
  }

  TemporaryFolder folder_;
  std::string run_;
};

}  // namespace assay::site
