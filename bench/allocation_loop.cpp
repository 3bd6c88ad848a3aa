// Allocates and frees, nothing else: built with and without the counting malloc of the runners, for
// allocation_cost.py.
#include <cstdlib>
#include <string>

#ifdef ASSAY_COUNTS
#include "assay/allocation/counting_malloc.h"
#endif

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::stol(argv[1]) : 1000;
  const auto bytes = static_cast<std::size_t>(argc > 2 ? std::stol(argv[2]) : 100);
  for (long i = 0; i < rounds; ++i) {
    void* block = std::malloc(bytes);
    asm volatile("" : "+r"(block) : : "memory");
    std::free(block);
  }
#ifdef ASSAY_COUNTS
  // Whoever calls it has the counting malloc.
  return assay::read_allocation_counts().value_or(assay::AllocationCounts{}).count < 0 ? 1 : 0;
#else
  return 0;
#endif
}
