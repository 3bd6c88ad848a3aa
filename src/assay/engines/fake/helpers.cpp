#include "assay/engines/fake/helpers.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include "assay/base/clock.h"

namespace assay::fake {
namespace {

void help(const std::stop_token& stop, std::int64_t busy_ns) {
  const std::int64_t end_ns = monotonic_ns() + busy_ns;
  while (!stop.stop_requested() && (busy_ns == 0 || monotonic_ns() < end_ns)) {
  }
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait(lock, stop, [] { return false; });
}

}  // namespace

Helpers::Helpers(int count, std::int64_t busy_ns) {
  for (int i = 0; i < count; ++i) {
    threads_.emplace_back([busy_ns](const std::stop_token& stop) { help(stop, busy_ns); });
  }
}

}  // namespace assay::fake
