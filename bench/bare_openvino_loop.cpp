// OpenVINO without Assay: compile a program, then infer N times on one thread.
//
//     bare-openvino-loop PROGRAM.xml N
//
// Prints what each inference took, in nanoseconds, a line each; the inputs are ones. The
// counterpart of assay-runner-openvino in compare_engine_loops.py. For float32 programs.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <openvino/core/type/element_type.hpp>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/infer_request.hpp>
#include <openvino/runtime/properties.hpp>
#include <vector>

namespace {

void fill_inputs(ov::InferRequest& request, std::size_t inputs) {
  for (std::size_t i = 0; i < inputs; ++i) {
    auto tensor = request.get_input_tensor(i);
    std::fill_n(tensor.data<float>(), tensor.get_size(), 1.0F);
  }
}

void run(const char* path, int count) {
  ov::Core core;
  auto model = core.compile_model(path, "CPU", ov::inference_num_threads(1),
                                  ov::hint::inference_precision(ov::element::f32),
                                  ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY));
  auto request = model.create_infer_request();
  std::vector<long long> times_ns;
  for (int i = 0; i < count; ++i) {
    fill_inputs(request, model.inputs().size());
    const auto start = std::chrono::steady_clock::now();
    request.infer();
    const auto end = std::chrono::steady_clock::now();
    times_ns.push_back(std::chrono::nanoseconds(end - start).count());
  }
  for (const auto time_ns : times_ns) {
    std::printf("%lld\n", time_ns);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("bare-openvino-loop PROGRAM.xml N\n", stderr);
    return 2;
  }
  try {
    run(argv[1],
        std::atoi(argv[2]));  // NOLINT(bugprone-unchecked-string-to-number-conversion,cert-err34-c)
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}
