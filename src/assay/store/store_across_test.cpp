// Random merges between a file and a database, in both directions, while others write and read:
// each run is the same in both. tests/e2e/test_postgres_store.py gives databases of several
// collations.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/run_snapshot.h"
#include "assay/store/testing/sample_records.h"
#include "assay/store/testing/store_fixture.h"

namespace assay {
namespace {

using std::string_literals::operator""s;

const auto kTexts = std::to_array<std::string>({
    "",
    "plain",
    "it's \"quoted\" `x` $1 ?2 %s {0}",
    "two\nlines\r\n\tand a tab",
    "a\0b\0"s,
    "\xff\xfe wrong \xc3",
    "\xed\xa0\x80 a surrogate, \xc0\xaf overlong, \xf4\x90\x80\x80 too far",
    "\U0001F600 \U0001F469\u200D\U0001F469\u200D\U0001F467",
    "\u00e9 e\u0301 \u00df \u0130 \u0131",
    "\\u0000 \\N \\\\ \\",
    "\x01\x1f\x7f",
    "NULL",
    "\u202e \ufeff \uffff",
});

const auto kChannels = std::to_array<std::string>({
    "temperature:acpitz",
    "temperature:B0D4",
    "temperature:TSR0",
    "temperature:x86_pkg_temp",
    "temperature:INT3400 Thermal",
    "temperature:Zone 1",
    "temperature:zone 1",
    "temperature:zone-1",
    "temperature:zone#2",
    "frequency:cpu9",
    "frequency:cpu10",
    "frequency:LITTLE",
    "frequency:big",
    "power:BAT0",
    "power:\u00dcbertemperatur",
    "energy:package-0",
    "energy:package_0",
    "energy:a\0b"s,
});

/// Makes runs with texts of every kind in any order.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : chance_(seed) {}

  /// The id of a finished run.
  std::string add_run(ResultStore& store) {
    auto records = add_sample_run(store);
    const auto& run = records.run.id;
    records.attempt.text = text();
    records.attempt.reason_code = text();
    records.attempt.is_finished = true;
    auto launch = make_launch(records.attempt.id, 1);
    launch.text = text();
    launch.reason_code = text();
    launch.profile->events.at(0).name = text();
    launch.traces->channels = channels();
    const std::vector<MetricRow> metrics = {
        {records.attempt.id, "", make_metric("first_ns", 1.0 / 3, text())}};
    EXPECT_TRUE(store.add_launch(launch).has_value());
    EXPECT_TRUE(store.add_metrics(metrics).has_value());
    EXPECT_TRUE(store.add_attachment({records.attempt.id, text(), text()}).has_value());
    EXPECT_TRUE(store.put_comparison({.id = make_id(), .run = run, .text = text()}).has_value());
    EXPECT_TRUE(store.put_attempt(records.attempt).has_value());
    EXPECT_TRUE(store.tag_run(run, {{"x" + text(), text()}}, {}).has_value());
    EXPECT_TRUE(store.finish_run(run, 5).has_value());
    return run;
  }

  std::size_t pick(std::size_t count) { return chance_() % count; }

 private:
  std::string text() { return kTexts.at(pick(kTexts.size())); }

  std::vector<DeviceTrace> channels() {
    std::vector<DeviceTrace> traces;
    for (const auto& channel : kChannels) {
      if (pick(2) == 0) {
        traces.insert(
            traces.begin() + static_cast<std::ptrdiff_t>(pick(traces.size() + 1)),
            {.channel = channel, .unit = "celsius", .times_ns = {1, 2}, .micros = {3, 4}});
      }
    }
    return traces;
  }

  std::mt19937_64 chance_;
};

/// Writes runs of its own, and reads all finished ones, until it ends.
class Bystander {
 public:
  Bystander(std::string address, std::uint64_t seed)
      : thread_([this, address = std::move(address), seed] { work(address, seed); }) {}
  ~Bystander() {
    is_over_ = true;
    thread_.join();
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

 private:
  void work(const std::string& address, std::uint64_t seed) {
    Maker maker(seed);
    const auto open = [&address](StoreAccess access) {
      return address.starts_with("postgresql://") ? open_postgres_store(address, access)
                                                  : open_sqlite_store(address, access);
    };
    const auto writer = open(StoreAccess::kWrite).value();
    const auto reader = open(StoreAccess::kRead).value();
    for (int i = 0; i < kMostRuns && !is_over_; ++i) {
      maker.add_run(*writer);
      const auto listings = reader->list_runs({.limit = 3}).value();
      for (const auto& listing : listings) {
        const auto attempts = reader->attempts_of_run(listing.run.id).value();
        for (const auto& attempt : attempts) {
          const auto launches = reader->launches_of_attempt(attempt.id);
          EXPECT_TRUE(launches.has_value()) << launches.error().message;
        }
      }
    }
  }

  static constexpr int kMostRuns = 4;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

class StoresOfTwoKinds : public EveryStore {};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoresOfTwoKinds);
INSTANTIATE_TEST_SUITE_P(Stores, StoresOfTwoKinds, testing::ValuesIn(databases()), name_of_store);

TEST_P(StoresOfTwoKinds, HaveTheSameRunsAfterMergesInBothDirections) {
  constexpr int kSteps = 8;
  const auto path = file("other.db").string();
  const auto other = open_sqlite_store(path).value();
  const std::array<ResultStore*, 2> stores = {&store(), other.get()};
  const std::array<std::string, 2> addresses = {test_database(), path};
  const auto merge = [&](std::size_t into) {
    const auto merged = stores.at(into)->merge_from(addresses.at(1 - into));
    EXPECT_TRUE(merged.has_value()) << merged.error().message;
    return merged.value_or(-1);
  };
  std::map<std::string, Json> made;
  {
    const Bystander in_database(addresses[0], 100);
    const Bystander in_file(addresses[1], 200);
    Maker maker(7);
    for (int step = 0; step < kSteps; ++step) {
      SCOPED_TRACE(fmt::format("step {}", step));
      const auto place = maker.pick(2);
      const auto run = maker.add_run(*stores.at(place));
      made.emplace(run, snapshot_of_run(*stores.at(place), run));
      merge(maker.pick(2));
    }
  }
  merge(0);
  merge(1);
  EXPECT_EQ(merge(0), 0);
  EXPECT_EQ(merge(1), 0);
  for (const auto& [run, then] : made) {
    EXPECT_TRUE(snapshot_of_run(*stores[0], run) == then) << run;
    EXPECT_TRUE(snapshot_of_run(*stores[1], run) == then) << run;
  }
  const auto listed = stores[0]->list_runs({.limit = -1}).value();
  ASSERT_EQ(listed.size(), stores[1]->list_runs({.limit = -1}).value().size());
  for (const auto& listing : listed) {
    const auto& run = listing.run.id;
    EXPECT_TRUE(snapshot_of_run(*stores[0], run) == snapshot_of_run(*stores[1], run)) << run;
  }
}

}  // namespace
}  // namespace assay
