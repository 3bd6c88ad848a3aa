// Overhead of measure() on a program that does nothing. Goal: under 2 us an inference.
#include <benchmark/benchmark.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "assay/base/fs.h"
#include "assay/engine/session.h"
#include "assay/engines/fake/fake_engine.h"
#include "assay/measure/measure.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr const char* kNullProgram =
    R"({"inputs": [{"name": "x", "dtype": "float32", "shape": [1]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": [1]}]})";

/// The null program, loaded.
struct NullProgram {
  TemporaryFolder folder = TemporaryFolder::make("bench").value();
  fake::FakeEngine engine;
  std::unique_ptr<Session> session;
  Tensor input = Tensor::zeros(Dtype::kFloat32, {1});
  std::vector<TensorView> inputs = {input.view()};

  NullProgram() {
    const auto path = folder.path() / "null.fake.json";
    std::ofstream(path) << kNullProgram;
    session = engine.load({.entry = path}).value();
  }
};

void BM_BareLoop(benchmark::State& state) {
  NullProgram program;
  for (auto unused : state) {
    static_cast<void>(unused);
    benchmark::DoNotOptimize(program.session->bind(program.inputs));
    benchmark::DoNotOptimize(program.session->execute());
    benchmark::DoNotOptimize(program.session->fetch());
  }
}
BENCHMARK(BM_BareLoop);

/// One iteration is one inference of the steady part.
void BM_Measure(benchmark::State& state) {
  NullProgram program;
  constexpr int kBatch = 10'000;
  while (state.KeepRunningBatch(kBatch)) {
    const auto result = measure(*program.session, program.inputs,
                                {.warmup_iterations = 0, .iterations = kBatch}, {});
    if (!result) {
      state.SkipWithError(result.error().message.c_str());
      return;
    }
  }
}
BENCHMARK(BM_Measure);

}  // namespace
}  // namespace assay
