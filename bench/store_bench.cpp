// A launch into a store: one durable transaction. ASSAY_TEST_POSTGRES names an empty database.
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <memory>

#include "assay/base/fs.h"
#include "assay/store/result_store.h"
#include "assay/store/testing/sample_records.h"

namespace assay {
namespace {

void add_launches(benchmark::State& state, ResultStore& store) {
  const auto records = add_sample_run(store);
  int index = 1;
  for (auto unused : state) {
    static_cast<void>(unused);
    if (!store.add_launch(make_launch(records.attempt.id, index++))) {
      state.SkipWithError("a launch was refused");
      return;
    }
  }
}

void BM_AddLaunchToFile(benchmark::State& state) {
  const auto folder = TemporaryFolder::make("assay-bench").value();
  const auto store = open_sqlite_store(folder.path() / "bench.db").value();
  add_launches(state, *store);
}
BENCHMARK(BM_AddLaunchToFile)->UseRealTime();

void BM_AddLaunchToPostgres(benchmark::State& state) {
  const char* const database = std::getenv("ASSAY_TEST_POSTGRES");
  if (database == nullptr) {
    state.SkipWithError("ASSAY_TEST_POSTGRES names no database");
    return;
  }
  const auto store = open_postgres_store(database).value();
  add_launches(state, *store);
}
BENCHMARK(BM_AddLaunchToPostgres)->UseRealTime();

}  // namespace
}  // namespace assay
