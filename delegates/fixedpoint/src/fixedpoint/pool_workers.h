#pragma once

#include "fixedpoint/workers.h"

#include <cstdint>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace fixedpoint {

/// The threads of ExecuTorch's own pool, which its other backends and kernels use too.
///
/// As many parts as the pool has threads when this is made; a pool that is made larger or smaller
/// later runs the same parts.
class PoolWorkers : public Workers {
 public:
  int count() const override { return count_; }
  void run(void (*work)(void* context, int part), void* context) override {
    ::executorch::extension::parallel_for(0, count_, 1,
                                          [work, context](std::int64_t first, std::int64_t end) {
                                            for (std::int64_t part = first; part < end; ++part) {
                                              work(context, static_cast<int>(part));
                                            }
                                          });
  }

 private:
  int count_ = static_cast<int>(::executorch::extension::get_thread_count());
};

}  // namespace fixedpoint
