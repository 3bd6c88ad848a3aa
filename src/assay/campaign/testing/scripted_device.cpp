#include "assay/campaign/testing/scripted_device.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/launch_target.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"

namespace assay {

class ScriptedTarget : public LaunchTarget {
 public:
  explicit ScriptedTarget(ScriptedDevice& device) : device_(device) {}

  Result<LaunchResult> run(const LaunchRequest& request) override {
    auto result = device_.answer(request);
    is_lost_ = !result && result.error().code == ErrorCode::kCrashed;
    return result;
  }

  bool is_alive() override { return !is_lost_; }

  [[nodiscard]] bool has_queue() const override { return device_.has_queue; }
  [[nodiscard]] bool has_link() const override { return device_.has_link; }

  void expect(const std::vector<LaunchRequest>& requests) override {
    device_.expected.push_back(requests);
  }

 private:
  ScriptedDevice& device_;
  bool is_lost_ = false;
};

Result<LaunchResult> ScriptedDevice::answer(const LaunchRequest& request) {
  const std::scoped_lock lock(mutex_);
  const auto launch = static_cast<int>(requests.size());
  requests.push_back(request);
  return script_(request, launch);
}

ConnectTarget ScriptedDevice::connector() {
  return [this]() -> Result<std::unique_ptr<LaunchTarget>> {
    const std::scoped_lock lock(mutex_);
    ++connections;
    return std::make_unique<ScriptedTarget>(*this);
  };
}

LaunchResult completed_result() {
  LaunchResult result;
  result.launch.id = make_uuid7();
  result.launch.outcome = Outcome::kCompleted;
  result.launch.stage = Stage::kDone;
  result.launch.end.exit_code = 0;
  result.launch.end.wall_ns = 1'000'000'000;
  result.launch.load = LoadReport{.stages = {{"program", 1'000'000}}};
  return result;
}

LaunchResult timed_result(const LaunchRequest& request, std::int64_t execute_ns) {
  auto result = completed_result();
  const auto& plan = request.plan;
  Measurement measurement{.first = {.bind_ns = 1, .execute_ns = 2 * execute_ns, .fetch_ns = 1},
                          .warmup_iterations = plan.warmup_iterations,
                          .iterations = plan.iterations,
                          .stopped_by = "count",
                          .inferences = plan.iterations,
                          .inferences_ns = plan.iterations * execute_ns,
                          .wall_ns = plan.iterations * execute_ns};
  for (int i = 0; i < plan.warmup_iterations + plan.iterations; ++i) {
    measurement.samples.bind_ns.push_back(1);
    measurement.samples.execute_ns.push_back(execute_ns + i % 2 * execute_ns / 1000);
    measurement.samples.fetch_ns.push_back(1);
  }
  result.launch.measurement = std::move(measurement);
  return result;
}

LaunchResult evaluated_result(std::span<const float> output) {
  auto result = completed_result();
  const std::vector<double> values(output.begin(), output.end());
  const Shape shape = {static_cast<std::int64_t>(output.size())};
  const std::vector<NamedTensor> tensors = {
      {.name = "0.0", .tensor = tensor_from_doubles(values, shape, Dtype::kFloat32)}};
  auto load = result.launch.load.value_or(LoadReport{});
  load.outputs = {{.name = "0", .shape = shape}};
  result.launch.load = std::move(load);
  result.outputs = safetensors_from_tensors(tensors);
  return result;
}

}  // namespace assay
