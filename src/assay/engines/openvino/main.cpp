// The runner of OpenVINO; see runner/runner.h for its arguments.
#include "assay/allocation/counting_malloc.h"
#include "assay/engines/openvino/openvino_engine.h"
#include "assay/runner/runner.h"

int main(int argc, char** argv) {
  assay::openvino::OpenvinoEngine engine;
  return assay::run_runner(engine, argc, argv, assay::counted_malloc());
}
