// The runner of other people's benchmarks; see runner/runner.h for its arguments.
#include "assay/allocation/counting_malloc.h"
#include "assay/engines/command/command_engine.h"
#include "assay/runner/runner.h"

int main(int argc, char** argv) {
  assay::command::CommandEngine engine;
  return assay::run_runner(engine, argc, argv, assay::counted_malloc());
}
