// Random sequences of what may be done to a store: none changes what a finished run holds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/metric.h"
#include "assay/store/result_store.h"
#include "assay/store/store_files.h"
#include "assay/store/testing/run_snapshot.h"
#include "assay/store/testing/sample_records.h"

namespace assay {
namespace {

class Sequence {
 public:
  explicit Sequence(std::uint64_t seed, const std::filesystem::path& folder)
      : chance_(seed), path_(folder / fmt::format("other{}.db", seed)) {}

  ~Sequence() { std::ranges::for_each(open_, remove_files); }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  /// One operation, and then every finished run as it was first.
  void step(int number) {
    const auto what = pick(8);
    SCOPED_TRACE(fmt::format("step {}, operation {}", number, what));
    switch (what) {
      case 0:
        label_one();
        break;
      case 1:
        remove_one();
        break;
      case 2:
        merge_one();
        break;
      case 3:
        begin_one();
        break;
      case 4:
        go_on();
        break;
      default:
        add_one(*store_, first_);
    }
    for (const auto& [id, then] : first_) {
      ASSERT_EQ(snapshot_of_run(*store_, id), then) << id;
    }
  }

  [[nodiscard]] std::size_t runs() const { return first_.size(); }

 private:
  using Snapshots = std::map<std::string, Json>;

  struct UnderWay {
    std::filesystem::path path;
    SampleRun records;
    Comparison comparison;
  };

  /// Hundreds of stores would fill what is in memory.
  static void remove_files(const UnderWay& under_way) {
    remove_store_files(under_way.path);
    remove_store_files(under_way.path.string() + ".before");
  }

  std::size_t pick(std::size_t count) { return chance_() % count; }

  // Few contents, so that bytes, keys and machines meet again in all combinations.
  void add_one(ResultStore& store, Snapshots& snapshots) {
    auto records = add_sample_run(store);
    const auto environment = varied_environment(records);
    const auto artifact = varied_artifact(records);
    assay::Run run = records.run;
    run.id = make_id();
    run.environment_key = environment_key(environment);
    auto attempt = records.attempt;
    attempt.id = make_id();
    attempt.run = run.id;
    attempt.artifact = artifact.id();
    auto reference = records.reference;
    reference.document["made"] = pick(3);
    ASSERT_TRUE(store.add_environment(environment).has_value());
    ASSERT_TRUE(store.add_run(run).has_value());
    ASSERT_TRUE(store.add_case(run.id, records.cell).has_value());
    ASSERT_TRUE(store.add_artifact(artifact).has_value());
    ASSERT_TRUE(store.add_reference(reference).has_value());
    ASSERT_TRUE(store.put_attempt(attempt).has_value());
    ASSERT_TRUE(store.add_launch(make_launch(attempt.id, 0)).has_value());
    const std::vector<MetricRow> rows = {
        {attempt.id, "", make_metric("first_ns", static_cast<double>(pick(9)))}};
    ASSERT_TRUE(store.add_metrics(rows).has_value());
    ASSERT_TRUE(store.add_attachment({attempt.id, "note", fmt::format("note {}", pick(3))}));
    ASSERT_TRUE(store.finish_run(run.id, 1 + static_cast<std::int64_t>(pick(9))).has_value());
    ASSERT_TRUE(store.remove_run(records.run.id).has_value()) << "unfinished, and in the way";
    snapshots[run.id] = snapshot_of_run(store, run.id);
  }

  Environment varied_environment(const SampleRun& records) {
    auto environment = records.environment;
    environment.memory_bytes = static_cast<std::int64_t>(pick(3));
    return environment;
  }

  Artifact varied_artifact(const SampleRun& records) {
    auto artifact = records.artifact;
    artifact.files.front().sha256 = fmt::format("bytes {}", pick(2));
    artifact.key = fmt::format("recipe {}", pick(2));
    artifact.manifest = pick(2) == 0 ? Json() : Json{{"nodes_delegated", pick(2)}};
    return artifact;
  }

  void label_one() {
    if (const auto id = any_run(); !id.empty()) {
      ASSERT_TRUE(store_->tag_run(id, {{"n", std::to_string(pick(9))}}, {}).has_value());
    }
  }

  void remove_one() {
    if (const auto id = any_run(); !id.empty()) {
      ASSERT_TRUE(store_->remove_run(id).has_value());
      first_.erase(id);
      EXPECT_FALSE(store_->get_run(id).has_value());
    }
  }

  void merge_one() {
    {
      auto other = open_sqlite_store(path_).value();
      add_one(*other, others_);
    }
    ASSERT_TRUE(store_->merge_from(path_).has_value());
    for (const auto& [id, then] : others_) {
      first_.emplace(id, then);
    }
  }

  /// A run elsewhere that is interrupted, and told what it had.
  void begin_one() {
    auto& under_way = open_.emplace_back();
    under_way.path = path_.parent_path() / fmt::format("open-{}", make_id());
    auto other = open_sqlite_store(under_way.path).value();
    under_way.records = add_sample_run(*other);
    under_way.comparison = {.id = make_id(), .run = under_way.records.run.id};
    say("cannot tell: too few pairs", *other, under_way);
  }

  /// It goes on there, to its end perhaps, and is merged here or not, at once or as it was before.
  void go_on() {
    if (open_.empty()) {
      return;
    }
    const auto at = pick(open_.size());
    auto& under_way = open_[at];
    const auto before = under_way.path.string() + ".before";
    std::filesystem::copy_file(under_way.path, before,
                               std::filesystem::copy_options::overwrite_existing);
    const bool is_end = pick(2) == 0;
    Json end;
    {
      auto other = open_sqlite_store(under_way.path).value();
      ASSERT_TRUE(other->add_launch(
          make_launch(under_way.records.attempt.id, ++under_way.comparison.launches)));
      say(is_end ? "B takes 5 % more time" : "", *other, under_way);
      if (is_end) {
        ASSERT_TRUE(other->finish_run(under_way.records.run.id, 7).has_value());
        end = snapshot_of_run(*other, under_way.records.run.id);
      }
    }
    merge_in_some_order(under_way.path.string(), before, is_end);
    if (is_end) {
      first_.emplace(under_way.records.run.id, std::move(end));
      remove_files(under_way);
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  void merge_in_some_order(const std::string& now, const std::string& before, bool is_end) {
    std::vector<std::string> files = {now, before};
    if (pick(2) == 0) {
      std::swap(files[0], files[1]);
    }
    for (const auto& file : files) {
      if (pick(2) == 0 || (is_end && file == now)) {
        ASSERT_TRUE(store_->merge_from(file).has_value());
      }
    }
  }

  void say(const std::string& text, ResultStore& store, UnderWay& under_way) {
    under_way.comparison.text = text;
    under_way.comparison.wall_ns += 1;
    const std::vector<MetricRow> rows = {
        {under_way.records.attempt.id, "", make_metric("first_ns", static_cast<double>(pick(9)))}};
    ASSERT_TRUE(store.put_comparison(under_way.comparison).has_value());
    ASSERT_TRUE(store.add_metrics(rows).has_value());
  }

  std::string any_run() {
    return first_.empty()
               ? ""
               : std::next(first_.begin(), static_cast<std::ptrdiff_t>(pick(first_.size())))->first;
  }

  std::mt19937_64 chance_;
  std::filesystem::path path_;
  std::unique_ptr<ResultStore> store_ = make_memory_store();
  Snapshots first_;             ///< Content of each finished run when it ended.
  Snapshots others_;            ///< Likewise for the store that is merged.
  std::vector<UnderWay> open_;  ///< Runs of other stores without an end.
};

TEST(StoreProperty, NoOperationChangesAFinishedRun) {
  constexpr int kSequences = 200;
  constexpr int kSteps = 8;
  const auto folder = make_store_folder();
  std::size_t compared = 0;
  for (int seed = 0; seed < kSequences; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Sequence sequence(static_cast<std::uint64_t>(seed), folder.path());
    for (int step = 0; step < kSteps && !testing::Test::HasFatalFailure(); ++step) {
      sequence.step(step);
      compared += sequence.runs();
    }
  }
  EXPECT_GT(compared, 1000U);
}

}  // namespace
}  // namespace assay
