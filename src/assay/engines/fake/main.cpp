// The runner of the fake engine; see runner/runner.h for its arguments.
#include "assay/allocation/counting_malloc.h"
#include "assay/engines/fake/fake_engine.h"
#include "assay/runner/runner.h"

int main(int argc, char** argv) {
  assay::fake::FakeEngine engine;
  return assay::run_runner(engine, argc, argv, assay::counted_malloc());
}
