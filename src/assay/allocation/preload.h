#pragma once

#include "assay/device/malloc_reader.h"

/// The name of the function below, for dlsym: what is preloaded is not linked.
inline constexpr const char* kPreloadedMalloc = "assay_preloaded_malloc";

/// Reader of the malloc that libassay-allocation.so brings.
extern "C" [[gnu::visibility("default")]] const assay::MallocReader* assay_preloaded_malloc();
