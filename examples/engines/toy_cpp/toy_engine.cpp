// An engine in C++, as small as one can be: y = x + 1 over as many floats as its program says.
#include <fstream>

#include "assay/allocation/counting_malloc.h"
#include "assay/base/clock.h"
#include "assay/engine/engine.h"
#include "assay/engine/input_check.h"
#include "assay/runner/runner.h"

namespace {

using namespace assay;

class ToySession final : public Session {
 public:
  ToySession(std::int64_t size, std::int64_t load_ns) : output_(size), input_(size) {
    const Shape shape{size};
    report_.stages = {{"read", load_ns}};
    report_.inputs = {{.name = "x", .dtype = Dtype::kFloat32, .shape = shape}};
    report_.outputs = {{.name = "y", .dtype = Dtype::kFloat32, .shape = shape}};
    views_ = {
        {.dtype = Dtype::kFloat32, .shape = shape, .data = std::as_bytes(std::span(output_))}};
  }

  const LoadReport& report() const override { return report_; }

  // Inputs lie in the engine's memory when bind returns: what a copy costs belongs here.
  Status bind(std::span<const TensorView> inputs) override {
    ASSAY_RETURN_IF_ERROR(check_inputs(inputs, report_.inputs));
    std::ranges::copy(inputs.front().data, std::as_writable_bytes(std::span(input_)).begin());
    return {};
  }

  // Computes to the end; an engine that computes in the background waits here.
  Status execute() override {
    std::ranges::transform(input_, output_.begin(), [](float x) { return x + 1; });
    return {};
  }

  Result<std::span<const TensorView>> fetch() override { return views_; }

  Status reset_state() override { return {}; }

 private:
  LoadReport report_;
  std::vector<float> output_;
  std::vector<float> input_;
  std::vector<TensorView> views_;
};

class ToyEngine final : public Engine {
 public:
  Result<EngineDescription> describe() override {
    return EngineDescription{
        .name = "toy_cpp", .version = "1", .build_id = "1", .formats = {"toysize"}};
  }

  Result<std::unique_ptr<Session>> load(const LoadRequest& request) override {
    if (request.method != "forward" || !request.libraries.empty()) {
      return fail(ErrorCode::kNotFound, "a toy has the method forward, and no libraries");
    }
    const auto start_ns = monotonic_ns();
    std::ifstream file(request.entry);
    if (!file) {
      return fail(ErrorCode::kNotFound, "no program " + request.entry.string());
    }
    std::int64_t size = 0;
    std::string end;
    if (!(file >> size >> end) || size < 1 || size > 1 << 20 || end != "floats") {
      return fail(ErrorCode::kCorrupt, request.entry.string() + " does not say: N floats");
    }
    return std::make_unique<ToySession>(size, monotonic_ns() - start_ns);
  }
};

}  // namespace

int main(int argc, char** argv) {
  ToyEngine engine;
  return assay::run_runner(engine, argc, argv, assay::counted_malloc());
}
