#pragma once

#include <cstdint>
#include <thread>
#include <vector>

namespace assay::fake {

/// Threads that keep processors busy while another one executes, whatever was asked for.
class Helpers {
 public:
  /// `busy_ns`: each spins for so long from now on and then sleeps; 0: until this is gone.
  Helpers(int count, std::int64_t busy_ns);

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace assay::fake
