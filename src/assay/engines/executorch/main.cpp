// The runner of ExecuTorch; see runner/runner.h for its arguments.
#include "assay/allocation/counting_malloc.h"
#include "assay/engines/executorch/executorch_engine.h"
#include "assay/runner/runner.h"

int main(int argc, char** argv) {
  assay::et::ExecutorchEngine engine;
  return assay::run_runner(engine, argc, argv, assay::counted_malloc());
}
