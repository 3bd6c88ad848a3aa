#include "assay/store/testing/sample_records.h"

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdlib.h>  // setenv is POSIX, not in cstdlib.
#include <utility>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

void check(const Status& status) { ASSAY_CHECK(status.has_value()); }

Measurement make_measurement() {
  Measurement measurement{.first = {.bind_ns = 11, .execute_ns = 123'456'789, .fetch_ns = 13},
                          .warmup_iterations = 10,
                          .iterations = 50,
                          .stopped_by = "count",
                          .wall_ns = 600'000'000,
                          .cpu_ns = 590'000'000,
                          .involuntary_switches = 3,
                          .minor_faults = 17,
                          .major_faults = 1,
                          .clock_resolution_ns = 20,
                          .timer_cost_ns = 42};
  // Noise around a level, as latencies are.
  std::uint64_t state = 12345;
  const auto noise = [&state](std::uint64_t width) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>((state >> 33) % width);
  };
  for (int i = 0; i < measurement.warmup_iterations + measurement.iterations; ++i) {
    measurement.samples.bind_ns.push_back(900 + noise(200));
    measurement.samples.execute_ns.push_back(12'000'000 + noise(400'000));
    measurement.samples.fetch_ns.push_back(400 + noise(50));
  }
  return measurement;
}

LoadReport make_load() {
  return {.stages = {{"program", 400'000}, {"method", 26'000'000}},
          .effective_options = {{"threads", 1}},
          .inputs = {{.name = "x", .shape = {1, 3, 224, 224}}},
          .outputs = {{.name = "y",
                       .dtype = Dtype::kInt8,
                       .shape = {1, 1000},
                       .quantization = Quantization{.scales = {1.0 / 3}, .zero_points = {-7}}}},
          .declared_memory = {{"planned", 606'176}},
          .backends = {"XnnpackBackend"},
          .notes = {"the profiler cannot be switched off"}};
}

Case make_case() {
  Case cell;
  cell.model = {.ref = "torchvision:mobilenet_v2", .args = {{"width", 0.75}}, .seed = 4};
  cell.recipe = {.name = "executorch/xnnpack-int8", .is_preset = true, .engine = "executorch"};
  cell.engine = "executorch";
  cell.engine_build = "executorch@1.5.1";
  cell.options = {{"threads", 1}};
  cell.calibration = {.seed = 1000, .count = 8, .role = "calibration"};
  cell.device_class = "linux-x86_64:test:2cpu";
  cell.require = {{"sqnr_db", ">=30"}};
  return cell;
}

Run make_run(const std::string& environment) {
  Run run{.id = make_id(), .purpose = "verify", .name = "night"};
  run.labels = {{"commit", "abc"}, {"branch", "caf\u00e9"}};
  run.seed = ~std::uint64_t{0};
  run.argv = {"assay", "run", "spec.json"};
  run.spec_digest = "d1";
  run.spec = {{"schema", "assay/spec/1"}};
  run.environment = environment;
  run.started_unix_ns = 1'700'000'000'000'000'000;
  return run;
}

}  // namespace

std::string make_id() { return make_uuid7(); }

TemporaryFolder make_store_folder() {
  if (::access("/dev/shm", W_OK) == 0) {
    ::setenv("TMPDIR", "/dev/shm", 1);
  }
  auto folder = TemporaryFolder::make("assay-store");
  ASSAY_CHECK(folder.has_value());
  return *std::move(folder);
}

Launch make_launch(const std::string& attempt, int index) {
  Launch launch{.id = make_id(), .attempt = attempt, .index = index, .order = 40 + index};
  launch.is_fresh = false;
  launch.text = "fine";
  launch.before = {
      .unix_ns = 5, .load_average_1min = 0.1, .governor = "performance", .cached_ratio = 0.5};
  launch.after = {.unix_ns = 6, .temperature_celsius = 51.5};
  launch.end = {.exit_code = 0, .wall_ns = 2'000'000'000, .peak_rss_bytes = 90'000'000};
  launch.load = make_load();
  launch.measurement = make_measurement();
  launch.memory = MemoryReport{.stages = {{.name = "start", .rss_bytes = 5}}, .probe_ns = 9};
  launch.profile = ProfileReport{.iterations = 10,
                                 .events = {{.name = "conv", .kind = "operator", .count = 10},
                                            {.name = "add", .kind = "operator", .total_ns = 7}},
                                 .method_median_ns = 12'000'000,
                                 .notes = {"a note"},
                                 .spans = {{.event = 1, .iteration = 2, .duration_ns = 7}},
                                 .counters = {{.name = "page-faults", .value = 3.5},
                                              {.name = "cycles", .unavailable = "no counter"}}};
  launch.traces = {.period_ns = 250'000'000,
                   .start_ns = 9'000'000'000,
                   .readings = 3,
                   .cpu_ns = 80'000,
                   .unavailable = {{"energy:package-0", "Permission denied"}},
                   .channels = {{.channel = "power:battery",
                                 .unit = "watts",
                                 .times_ns = {9'250'000'100},
                                 .micros = {-2'000'000}},
                                {.channel = "temperature:cpu",
                                 .unit = "celsius",
                                 .times_ns = {9'000'000'001, 9'250'000'002, 9'500'000'003},
                                 .micros = {38'500'000, 41'000'000, 43'250'000}}}};
  launch.overhead_ns = 77;
  return launch;
}

SampleRun add_sample_run(ResultStore& store) {
  SampleRun sample;
  sample.environment = {.id = "env-1", .device_class = "linux", .cpu_model = "EPYC", .cpus = 2};
  sample.run = make_run(sample.environment.id);
  sample.cell = make_case();
  sample.artifact = {.key = "k",
                     .folder = "/cache/k",
                     .entry = "program.pte",
                     .files = {{"program.pte", "program", 14'000'000, "ab"}},
                     .manifest = {{"schema", "assay/manifest/1"}}};
  sample.reference = {.key = "r", .kind = "qdq", .folder = "/cache/r", .document = {{"a", 1}}};
  sample.subject = {"executorch@1.5.1", "b1", "t1", sample.artifact.digest()};
  sample.attempt = {.id = make_id(),
                    .run = sample.run.id,
                    .case_key = case_key(sample.cell),
                    .subject = subject_key(sample.subject),
                    .artifact = sample.artifact.id(),
                    .worker = "host:1",
                    .lease_until_unix_ns = 8,
                    .n = 2};
  sample.launch = make_launch(sample.attempt.id, 0);
  check(store.add_environment(sample.environment));
  check(store.add_run(sample.run));
  check(store.add_case(sample.run.id, sample.cell));
  check(store.add_artifact(sample.artifact));
  check(store.add_reference(sample.reference));
  check(store.add_subject(sample.subject));
  check(store.put_attempt(sample.attempt));
  check(store.add_launch(sample.launch));
  return sample;
}

}  // namespace assay
