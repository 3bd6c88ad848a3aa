// The counting malloc as a library to preload, for a runner whose program is not ours (Python).
#include "assay/allocation/preload.h"

#include "assay/allocation/counting_malloc.h"
#include "assay/device/malloc_reader.h"

const assay::MallocReader* assay_preloaded_malloc() {
  static const auto reader = assay::counted_malloc();
  return &reader;
}
